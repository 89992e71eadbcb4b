/* net/socket_file.c: a socket file to listen on, for those on the same machine.
 *
 * Who may open the file may speak to the server: its mode is 0660, set before anybody can connect.
 * A server that was killed leaves its file behind; whether it lives is asked by connecting.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/connection.h"

#define SOCKET_FILE_MODE    0660
#define SOCKET_FILE_BACKLOG 4096

static bool put_path(struct str path, struct sockaddr_un *out, struct err *err)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (path.len == 0 || path.len >= sizeof out->sun_path || str_has_control(path)) {
        return err_set(err, ERR_INVALID, "the path of a socket file has 1 to %zu bytes: unix:PATH",
                       sizeof out->sun_path - 1);
    }
    memcpy(out->sun_path, path.ptr, path.len);
    return true;
}

/* What a dead server left behind is removed. */
static bool remove_stale(const struct sockaddr_un *address, struct err *err)
{
    struct stat found;
    if (lstat(address->sun_path, &found) != 0) {
        return errno == ENOENT || err_set(err, ERR_UNAVAILABLE, "listen on unix:%s: %s",
                                          address->sun_path, strerror(errno));
    }
    if (!S_ISSOCK(found.st_mode)) {
        return err_set(err, ERR_UNAVAILABLE, "listen on unix:%s: there is a file, but no socket",
                       address->sun_path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead = fd >= 0 && connect(fd, (const void *)address, sizeof *address) != 0 &&
                (errno == ECONNREFUSED || errno == ENOENT);
    if (fd >= 0) {
        close(fd);
    }
    if (!dead) {
        return err_set(err, ERR_UNAVAILABLE, "listen on unix:%s: another server does already",
                       address->sun_path);
    }
    return unlink(address->sun_path) == 0 || errno == ENOENT ||
           err_set(err, ERR_UNAVAILABLE, "remove the stale unix:%s: %s", address->sun_path,
                   strerror(errno));
}

/* Nobody can connect before listen(): until then the mode may still be what the umask made it. */
static bool bind_to(const struct sockaddr_un *address, int *out, struct err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (const void *)address, sizeof *address) == 0 &&
        chmod(address->sun_path, SOCKET_FILE_MODE) == 0) {
        *out = fd;
        return true;
    }
    err_set(err, ERR_UNAVAILABLE, "listen on unix:%s: %s", address->sun_path, strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    return false;
}

bool socket_file_open(struct server *server, uv_connection_cb on_connection, struct err *err)
{
    struct sockaddr_un address;
    struct stat made;
    int fd;
    if (!put_path(server->options.socket, &address, err) || !remove_stale(&address, err) ||
        !bind_to(&address, &fd, err)) {
        return false;
    }
    if (stat(address.sun_path, &made) == 0) {
        server->file_device = made.st_dev;
        server->file_inode = made.st_ino;
    }
    int failed = uv_pipe_open(&server->file_listener, fd);
    failed = failed != 0 ? failed
                         : uv_listen((uv_stream_t *)&server->file_listener, SOCKET_FILE_BACKLOG,
                                     on_connection);
    return failed == 0 || err_set(err, ERR_UNAVAILABLE, "listen on unix:%s: %s", address.sun_path,
                                  uv_strerror(failed));
}

void socket_file_close(struct server *server)
{
    struct sockaddr_un address;
    struct stat found;
    uv_close((uv_handle_t *)&server->file_listener, NULL);
    if (server->file_inode != 0 && put_path(server->options.socket, &address, NULL) &&
        stat(address.sun_path, &found) == 0 && found.st_dev == server->file_device &&
        found.st_ino == server->file_inode) {
        unlink(address.sun_path);
    }
    server->file_inode = 0;
}
