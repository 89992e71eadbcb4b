/* base/channel.c: how one thread gives work to another. See channel.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/channel.h"

void channel_init(struct channel *channel, void (*wake)(void *), void *wake_arg)
{
    pthread_mutex_init(&channel->lock, NULL);
    list_init(&channel->messages);
    channel->wake = wake;
    channel->wake_arg = wake_arg;
}

void channel_fini(struct channel *channel)
{
    pthread_mutex_destroy(&channel->lock);
}

/* Moves all of `from` behind `to`, keeping the order. */
static void splice(struct list *to, struct list *from)
{
    if (list_empty(from)) {
        return;
    }
    struct link *first = from->head.next, *last = from->head.prev;
    first->prev = to->head.prev;
    to->head.prev->next = first;
    last->next = &to->head;
    to->head.prev = last;
    list_init(from);
}

void channel_give_all(struct channel *channel, struct list *messages)
{
    if (list_empty(messages)) {
        return;
    }
    pthread_mutex_lock(&channel->lock);
    bool was_empty = list_empty(&channel->messages);
    splice(&channel->messages, messages);
    pthread_mutex_unlock(&channel->lock);
    if (was_empty && channel->wake != NULL) {
        channel->wake(channel->wake_arg);
    }
}

void channel_give(struct channel *channel, struct link *message)
{
    struct list one;
    list_init(&one);
    list_append(&one, message);
    channel_give_all(channel, &one);
}

bool channel_take(struct channel *channel, struct list *out)
{
    pthread_mutex_lock(&channel->lock);
    bool any = !list_empty(&channel->messages);
    splice(out, &channel->messages);
    pthread_mutex_unlock(&channel->lock);
    return any;
}
