/* tests/broker/test_health.c: every cell of a broker's states, the absent ones too, and what each
 * state means.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/health.h"
#include "test.h"

/* One letter per state: None, Whole, Doubted, Filling, Emptied, Away, Missed. */
static const char letters[BROKER_HEALTHS + 1] = "NWDFEAM";

static enum broker_health after(enum broker_health health, const char *events)
{
    static const char names[BROKER_EVENTS + 1] = "lLwedt";
    for (; *events != '\0'; events++) {
        health = health_next(health, (enum broker_event)(strchr(names, *events) - names));
    }
    return health;
}

TEST(the_table_of_health_has_these_cells_and_no_others)
{
    /* Columns as declared: lost, lost with changes, said whole, said empty, doubt, trust. */
    static const char *const cells[BROKER_HEALTHS] = {
        "......", /* NONE */
        "AM.ED.", /* WHOLE */
        "AM.E.W", /* DOUBTED */
        "AMD...", /* FILLING */
        "AMD...", /* EMPTIED */
        ".MDE..", /* AWAY */
        "...E..", /* MISSED */
    };
    for (int health = 0; health < BROKER_HEALTHS; health++) {
        for (int event = 0; event < BROKER_EVENTS; event++) {
            enum broker_health was = (enum broker_health)health;
            enum broker_health next = health_next(was, (enum broker_event)event);
            bool has = health_has_cell(was, (enum broker_event)event);
            CHECK_EQ(has ? letters[next] : '.', cells[health][event]);
            CHECK(has || next == was);
        }
    }
}

TEST(claims_ask_the_broker_in_one_state_and_only_trust_leads_there)
{
    for (int health = 0; health < BROKER_HEALTHS; health++) {
        CHECK_EQ(health_rule((enum broker_health)health)->asks_broker, health == BROKER_WHOLE);
        for (int event = 0; event < BROKER_EVENTS; event++) {
            bool enters =
                health != BROKER_WHOLE &&
                health_next((enum broker_health)health, (enum broker_event)event) == BROKER_WHOLE;
            CHECK(!enters || event == BROKER_TRUST);
        }
    }
}

TEST(what_is_filled_can_be_written_and_what_is_away_is_degraded)
{
    for (int health = 0; health < BROKER_HEALTHS; health++) {
        const struct health_rule *rule = health_rule((enum broker_health)health);
        CHECK(!rule->fills || rule->writes);
        CHECK(!rule->asks_broker || (rule->writes && !rule->fills && !rule->degraded));
        CHECK_EQ(rule->degraded, health >= BROKER_EMPTIED);
        CHECK(rule->name != NULL);
    }
    for (int event = 0; event < BROKER_EVENTS; event++) {
        CHECK(health_event_name((enum broker_event)event) != NULL);
    }
}

TEST(a_first_filling_is_no_loss_and_a_second_one_is)
{
    CHECK_EQ(after(BROKER_FILLING, "e"), BROKER_FILLING);
    CHECK_EQ(after(BROKER_FILLING, "wt"), BROKER_WHOLE);
    CHECK_EQ(after(BROKER_FILLING, "wte"), BROKER_EMPTIED);
    CHECK_EQ(after(BROKER_FILLING, "wtewt"), BROKER_WHOLE);
}

TEST(a_broker_that_comes_back_is_doubted_until_all_nodes_see_it)
{
    CHECK_EQ(after(BROKER_WHOLE, "l"), BROKER_AWAY);
    CHECK_EQ(after(BROKER_WHOLE, "lt"), BROKER_AWAY); /* trust is no sign of life */
    CHECK_EQ(after(BROKER_WHOLE, "lw"), BROKER_DOUBTED);
    CHECK_EQ(after(BROKER_WHOLE, "lwt"), BROKER_WHOLE);
    CHECK_EQ(after(BROKER_WHOLE, "dw"), BROKER_DOUBTED);
}

TEST(changes_that_were_missed_are_remembered_until_it_was_told)
{
    CHECK_EQ(after(BROKER_WHOLE, "lL"), BROKER_MISSED);
    CHECK_EQ(after(BROKER_WHOLE, "Ll"), BROKER_MISSED);
    CHECK_EQ(after(BROKER_WHOLE, "Lw"), BROKER_MISSED); /* said before our word arrived */
    CHECK_EQ(after(BROKER_WHOLE, "Lewt"), BROKER_WHOLE);
}

TEST(of_two_servers_the_worse_counts)
{
    CHECK_EQ(health_worse(BROKER_WHOLE, BROKER_DOUBTED), BROKER_DOUBTED);
    CHECK_EQ(health_worse(BROKER_AWAY, BROKER_FILLING), BROKER_AWAY);
    CHECK_EQ(health_worse(BROKER_NONE, BROKER_WHOLE), BROKER_WHOLE);
}
