// SPDX-License-Identifier: GPL-3.0-or-later
// Sends a poke: see poke.h. Called with slurmctld's locks held, so every call here returns at once.
#include "src/core/poke.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace squall {

void poke(const std::string& socket_path) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    // Nobody listens, or the receiver has pokes enough: both are fine.
    (void)sendto(fd, "", 0, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), sizeof address);
    close(fd);
}

}  // namespace squall
