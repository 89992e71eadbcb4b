/* cli/schedule_fields.c: what makes a schedule, as options say it and as the server is told. See
 * schedule.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/schedule.h"

#define PAYLOAD_MAX (4 * MIB) /* the server has its own, smaller limit and says so */

/* What can hold an URL is a phone's topic; everything else is an address for mail. */
static const char *channel_of(struct str address)
{
    return memmem(address.ptr, address.len, "://", 3) != NULL ? "MOBILE" : "EMAIL";
}

bool schedule_fields_check(const struct schedule_fields *fields, struct err *err)
{
    const struct option_many *to = &fields->to;
    if (to->count > 2 ||
        (to->count == 2 && strcmp(channel_of(to->at[0]), channel_of(to->at[1])) == 0)) {
        return err_set(err, ERR_INVALID, "--to takes one address for mail and one URL");
    }
    return true;
}

static void put_delivery(struct json_writer *w, struct str channels)
{
    static const struct value_rule capitals = {.kind = VALUE_CAPITALS};
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    value_send(&capitals, channels, &text);
    channels = buf_view(&text);
    json_put_array(w, "delivery");
    while (!str_absent(channels)) {
        json_add_str(w, str_cut(&channels, ','));
    }
    json_close_array(w);
}

static void put_addresses(struct json_writer *w, const struct schedule_fields *fields)
{
    const struct option_many *to = &fields->to;
    if (str_absent(fields->delivery)) {
        json_put_array(w, "delivery");
        for (size_t i = 0; i < to->count; i++) {
            json_add_str(w, str_of(channel_of(to->at[i])));
        }
        json_close_array(w);
    }
    json_put_object(w, "deliverTo");
    for (size_t i = 0; i < to->count; i++) {
        json_put_str(w, channel_of(to->at[i]), to->at[i]);
    }
    json_close_object(w);
}

bool schedule_fields_put(const struct schedule_fields *fields, const struct option *options,
                         const void *from, struct json_writer *w, struct err *err)
{
    SCOPED(buf_fini) struct buf payload = BUF_INIT(PAYLOAD_MAX);
    option_put_json(options, from, w);
    if (!str_absent(fields->payload)) {
        if (!remote_read_json(fields->payload, &payload, err)) {
            return err_wrap(err, "--payload");
        }
        json_put_raw(w, "payload", buf_view(&payload));
    }
    if (!str_absent(fields->delivery)) {
        put_delivery(w, fields->delivery);
    }
    if (fields->to.count > 0) {
        put_addresses(w, fields);
    }
    return true;
}
