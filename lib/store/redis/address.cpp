// SPDX-License-Identifier: MIT
#include "store/redis/address.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/text.hpp"

namespace jobthrottle {

namespace {

// What the thread and the one that waits for it share.
struct Lookup {
    std::string host, port;
    Fd done;  // its closing says that the result is there
    std::mutex mutex;
    int error = EAI_AGAIN;
    std::vector<Address> addresses;
};

int look_up(const std::string& host, const std::string& port, int flags, std::vector<Address>& found) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (error != 0) return error;
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
        Address address;
        if (one->ai_addrlen > sizeof address.storage) continue;
        std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
        address.length = one->ai_addrlen;
        found.push_back(address);
    }
    freeaddrinfo(list);
    return found.empty() ? EAI_NONAME : 0;
}

Error no_address(const std::string& host, int error) {
    return unavailable_error("no address of " + escape_for_display(host) + ": " + gai_strerror(error));
}

void run(const std::shared_ptr<Lookup>& lookup) {
    std::vector<Address> found;
    const int error = look_up(lookup->host, lookup->port, AI_ADDRCONFIG, found);
    const std::lock_guard lock(lookup->mutex);
    lookup->error = error;
    lookup->addresses = std::move(found);
    lookup->done.reset();
}

// False where no thread can be made. It takes no signals: those are the caller's.
bool start(const std::shared_ptr<Lookup>& lookup) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
        std::thread(run, lookup).detach();
    } catch (const std::system_error&) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace

Result<std::vector<Address>> find_addresses(const std::string& host, std::uint16_t port,
                                            const Patience& patience) {
    std::vector<Address> found;
    const std::string service = std::to_string(port);
    if (to_lower(host) == "localhost") {
        look_up("127.0.0.1", service, AI_NUMERICHOST, found);
        look_up("::1", service, AI_NUMERICHOST, found);
    } else {
        look_up(host, service, AI_NUMERICHOST, found);
    }
    if (!found.empty()) return found;

    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return internal_error("no descriptor left for looking up a host");
    const Fd done(ends[0]);
    const auto lookup = std::make_shared<Lookup>();
    lookup->host = host;
    lookup->port = service;
    lookup->done.reset(ends[1]);
    if (!start(lookup)) return internal_error("no thread left for looking up a host");
    const Woken woken = wait_for(done.get(), POLLIN, patience);
    if (woken == Woken::interrupted) return interrupted_error();
    if (woken == Woken::late) return late_error("looking up the host", patience);
    const std::lock_guard lock(lookup->mutex);
    if (lookup->error != 0) return no_address(host, lookup->error);
    return lookup->addresses;
}

}  // namespace jobthrottle
