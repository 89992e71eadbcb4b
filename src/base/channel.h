/* base/channel.h: how one thread gives work to another.
 *
 * A given message is no longer yours. Messages are intrusive links, taken all at once in the order
 * given; the taker sleeps on whatever `wake` pokes (an eventfd, a uv_async_t), so the channel
 * itself never blocks.
 *
 * Thread: any gives, one takes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_CHANNEL_H
#define ERRAND_BASE_CHANNEL_H

#include <pthread.h>

#include "base/list.h"

struct channel {
    pthread_mutex_t lock;
    struct list messages;
    void (*wake)(void *); /* called after giving into an empty channel, outside the lock */
    void *wake_arg;
};

void channel_init(struct channel *channel, void (*wake)(void *), void *wake_arg);
void channel_fini(struct channel *channel); /* must be empty */
void channel_give(struct channel *channel, struct link *message);
void channel_give_all(struct channel *channel, struct list *messages); /* leaves `messages` empty */
bool channel_take(struct channel *channel, struct list *out); /* appends all to out; false: none */

#endif
