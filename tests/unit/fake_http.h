// SPDX-License-Identifier: GPL-3.0-or-later
// An HTTP/1.1 server on a loopback port for the fakes of cloud services: one thread, keep-alive, replies that may be
// late, dribbled, cut short or never sent. Lives in the test's process; children that the test forks reach it by TCP.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace squall::cloud {

struct FakeRequest {
    std::string method, target, path, query, body;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string header(const std::string& name) const {
        auto at = headers.find(name);
        return at == headers.end() ? "" : at->second;
    }
};

struct FakeReply {
    int status = 200;
    std::string body{}, type = "application/json";
    std::vector<std::string> headers{};
    int delay_ms = 0;    // before anything is sent
    bool drop = false;   // the connection is closed without a word
    bool cut = false;    // half of the body, then closed
    int dribble_ms = 0;  // between bytes of the body
};

inline std::string url_decode(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] == '%' && i + 2 < text.size()) {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

inline std::map<std::string, std::string> form_fields(const std::string& text) {
    std::map<std::string, std::string> fields;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t end = std::min(text.find('&', from), text.size());
        std::string part = text.substr(from, end - from);
        std::size_t equal = std::min(part.find('='), part.size());
        fields[url_decode(part.substr(0, equal))] = equal < part.size() ? url_decode(part.substr(equal + 1)) : "";
        from = end + 1;
    }
    return fields;
}

class FakeHttpServer {
  public:
    using Handler = std::function<FakeReply(const FakeRequest&)>;
    explicit FakeHttpServer(Handler handler) : handler_(std::move(handler)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener_, 64) == 0 &&
            getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
            port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~FakeHttpServer() {
        stop_ = true;
        thread_.join();
        for (auto& [fd, buffer] : connections_) close(fd);
        close(listener_);
    }
    FakeHttpServer(const FakeHttpServer&) = delete;
    FakeHttpServer& operator=(const FakeHttpServer&) = delete;
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
    int connections_made() const { return made_; }

  private:
    void serve() {
        while (!stop_) {
            std::vector<pollfd> fds = {{listener_, POLLIN, 0}};
            for (auto& [fd, buffer] : connections_) fds.push_back({fd, POLLIN, 0});
            if (poll(fds.data(), fds.size(), 20) <= 0) continue;
            for (std::size_t i = 1; i < fds.size(); i++)
                if (fds[i].revents != 0) read_from(fds[i].fd);
            if (fds[0].revents != 0) {
                int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
                if (fd >= 0) connections_[fd], made_++;
            }
        }
    }
    void forget(int fd) {
        close(fd);
        connections_.erase(fd);
    }
    void read_from(int fd) {
        char part[65536];
        ssize_t got = recv(fd, part, sizeof part, 0);
        if (got <= 0) return forget(fd);
        std::string& buffer = connections_[fd];
        buffer.append(part, static_cast<std::size_t>(got));
        FakeRequest request;
        while (take(buffer, &request))
            if (!answer(fd, request)) return forget(fd);
    }
    static bool take(std::string& buffer, FakeRequest* request) {
        std::size_t end = buffer.find("\r\n\r\n");
        if (end == buffer.npos) return false;
        *request = {};
        std::size_t line_end = buffer.find("\r\n");
        std::string first = buffer.substr(0, line_end);
        request->method = first.substr(0, first.find(' '));
        request->target = first.substr(first.find(' ') + 1, first.rfind(' ') - first.find(' ') - 1);
        request->path = request->target.substr(0, request->target.find('?'));
        if (request->path.size() < request->target.size())
            request->query = request->target.substr(request->path.size() + 1);
        while (line_end < end) {
            std::size_t from = line_end + 2;
            line_end = buffer.find("\r\n", from);
            std::string line = buffer.substr(from, line_end - from), name = line.substr(0, line.find(':'));
            for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            std::size_t value = line.find_first_not_of(' ', name.size() + 1);
            request->headers[name] = value == line.npos ? "" : line.substr(value);
        }
        std::size_t length = static_cast<std::size_t>(std::atoll(request->header("content-length").c_str()));
        if (buffer.size() < end + 4 + length) return false;
        request->body = buffer.substr(end + 4, length);
        buffer.erase(0, end + 4 + length);
        return true;
    }
    bool answer(int fd, const FakeRequest& request) {
        FakeReply reply = handler_(request);
        if (reply.delay_ms > 0) usleep(static_cast<useconds_t>(reply.delay_ms) * 1000);
        if (reply.drop) return false;
        std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " X\r\nContent-Type: " + reply.type +
                           "\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\n";
        for (const std::string& line : reply.headers) head += line + "\r\n";
        head += "\r\n";
        if (reply.cut) {
            push(fd, head + reply.body.substr(0, reply.body.size() / 2));
            return false;
        }
        if (reply.dribble_ms == 0) return push(fd, head + reply.body);
        if (!push(fd, head)) return false;
        for (char c : reply.body) {
            if (stop_ || !push(fd, std::string(1, c))) return false;
            usleep(static_cast<useconds_t>(reply.dribble_ms) * 1000);
        }
        return true;
    }
    static bool push(int fd, const std::string& text) {
        for (std::size_t sent = 0; sent < text.size();) {
            ssize_t part = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (part <= 0) return false;
            sent += static_cast<std::size_t>(part);
        }
        return true;
    }
    Handler handler_;
    int listener_ = -1, port_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<int> made_ = 0;
    std::map<int, std::string> connections_;
    std::thread thread_;
};

}  // namespace squall::cloud
