// SPDX-License-Identifier: GPL-3.0-or-later
// A fake slurmctld for tests that kill the real lease daemon: FileSlurm is the daemon's seam to it, FakeController the
// other side in the test's process. They talk through files, so either may die at any moment. The controller calls the
// real hook programs, and holds a node for registered when the node's slurmd (a script) has left its mark.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cloud/slurm_nodes.h"
#include "tests/unit/driver_subject.h"

namespace squall::cloud {

// Files in `dir`: node.NAME "STATE DOWN REASON" (written by the controller), order.* "VERB NODE TEXT" (by the daemon).
class FileSlurm : public SlurmNodes {
  public:
    explicit FileSlurm(std::string dir) : dir_(std::move(dir)) {}
    std::string load(std::map<std::string, SlurmNode>& nodes) override {
        nodes.clear();
        for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
            std::string file = entry.path().filename();
            if (file.rfind("node.", 0) != 0) continue;
            std::istringstream in(read_file(entry.path()));
            std::string state;
            SlurmNode& node = nodes[file.substr(5)];
            in >> state >> node.down;
            std::getline(in >> std::ws, node.reason);
            node.cloud = true;
            node.powered_down = state == "off";
            node.powering_up = state == "powering_up";
            node.powering_down = state == "powering_down";
        }
        return "";
    }
    std::string set_address(const std::string& node, const std::string& address) override {
        return order("address", node, address);
    }
    std::string power_down_force(const std::string& node, const std::string& reason) override {
        return order("force", node, reason);
    }
    std::string set_down(const std::string& node, const std::string& reason) override {
        return order("down", node, reason);
    }
    std::string resume(const std::string& node) override { return order("resume", node, ""); }

  private:
    std::string order(const char* verb, const std::string& node, const std::string& text) {
        std::string name = fmt::format("{}/order.{:010}.{}", dir_, ++orders_, getpid());
        write_file(name + ".part", fmt::format("{} {} {}", verb, node, text));
        std::filesystem::rename(name + ".part", name);
        return "";
    }
    std::string dir_;
    int orders_ = 0;
};

class FakeController {
  public:
    struct Node {
        std::string state = "off", address, reason;
        bool down = false;
        int requested = 0, came_up = 0, given_up = 0;
    };
    FakeController(std::string dir, std::string conf, std::vector<std::string> names)
        : dir_(std::move(dir)), conf_(std::move(conf)) {
        for (const std::string& name : names) nodes[name];
        publish();
    }
    // Takes the daemon's orders and moves nodes on.
    void step() {
        for (const std::string& path : orders()) {
            std::istringstream in(read_file(path));
            std::string verb, name, text;
            in >> verb >> name;
            std::getline(in >> std::ws, text);
            obey(verb, nodes[name], name, text);
            std::filesystem::remove(path);
        }
        for (auto& [name, node] : nodes) {
            if (node.state == "powering_up" && !node.address.empty() && std::filesystem::exists(registered(name))) {
                node.state = "up";
                node.came_up++;
            } else if (node.state == "powering_down" && ++settling_[name] > 5) {
                node.state = "off";
            }
        }
        publish();
    }
    void resume(const std::string& name) {
        Node& node = nodes[name];
        if (node.state != "off" || node.down) return;
        node.state = "powering_up";
        node.address.clear();
        node.requested++;
        std::filesystem::remove(registered(name));
        publish();
        hook("squall-resume", name);
    }
    void suspend(const std::string& name) {
        Node& node = nodes[name];
        if (node.state != "up" && node.state != "powering_up") return;
        if (node.state == "powering_up") node.given_up++;
        node.state = "powering_down";
        settling_[name] = 0;
        publish();
        hook("squall-suspend", name);
    }
    std::string registered(const std::string& name) const { return dir_ + "/registered." + name; }

    std::map<std::string, Node> nodes;

  private:
    std::vector<std::string> orders() const {
        std::vector<std::string> paths;
        for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
            std::string file = entry.path().filename();
            if (file.rfind("order.", 0) == 0 && entry.path().extension() != ".part") paths.push_back(entry.path());
        }
        std::sort(paths.begin(), paths.end());
        return paths;
    }
    void obey(const std::string& verb, Node& node, const std::string& name, const std::string& text) {
        if (verb == "address") node.address = text;
        if (verb == "down") node.down = true, node.reason = text;
        if (verb == "resume") node.down = false;
        if (verb == "force") suspend(name);
    }
    void publish() {
        for (const auto& [name, node] : nodes) {
            std::string path = dir_ + "/node." + name;
            write_file(dir_ + "/.part", fmt::format("{} {:d} {}", node.state, node.down, node.reason));
            std::filesystem::rename(dir_ + "/.part", path);
        }
    }
    // As slurmctld does: nothing but SLURM_CONF's kin in the environment, descriptors 0–2 closed.
    void hook(const char* program, const std::string& name) {
        std::string path = built_program(program), conf = "SQUALL_CONF=" + conf_;
        pid_t pid = fork();
        if (pid == 0) {
            for (int fd = 0; fd < 256; fd++) close(fd);
            const char* argv[] = {path.c_str(), name.c_str(), nullptr};
            const char* environment[] = {conf.c_str(), nullptr};
            execve(path.c_str(), const_cast<char**>(argv), const_cast<char**>(environment));
            _exit(127);
        }
        int status = wait_child(pid);
        ck_assert_msg(status == 0, "%s %s: status %d", program, name.c_str(), status);
    }
    std::string dir_, conf_;
    std::map<std::string, int> settling_;
};

}  // namespace squall::cloud
