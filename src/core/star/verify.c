/*
 * verify.c - which pieces are compared, and who lied (P10).
 *
 * The gradient of a piece is the same bits on every machine, so two honest
 * answers have one hash.  Of a piece that is compared the first answer leaves
 * only its hash here; the second, if it says the same, is merged:
 *
 *     first answer        hash kept, tally forgotten       (VERDICT_WAIT)
 *     second, the same    merged, the piece is in          (VERDICT_COUNT)
 *     second, another     the piece is disputed: it is computed here
 *                         (ACTION_JUDGE), that tally is merged and whoever
 *                         said something else is struck
 *
 * So nothing that was merged ever has to be taken out again, and the room is a
 * few hashes for a piece, whatever the model's size.  Where nobody is left to
 * give a second answer the judge gives it.
 *
 * --verify compares all pieces, --audit Q each with chance Q, drawn anew for
 * every round from a seed the workers do not know.  Two workers that lie alike
 * are believed: nothing is claimed against those who collude.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "core/star/coordinator_parts.h"

/* --- room ---------------------------------------------------------------- */

static bool compares(const struct coordinator *c)
{
    return c->options.verify || c->options.audit > 0;
}

enum err verify_room(struct coordinator *c, uint32_t pieces)
{
    const struct job *job = &c->options.job;

    mem_free(c->ballots);
    c->ballots = NULL;
    if (!compares(c) || c->options.optim.kind == OPTIM_AVERAGE)
        return ERR_OK;
    c->ballots = mem_new(pieces, sizeof *c->ballots);
    if (c->ballots == NULL)
        return ERR_NOMEM;
    if (c->judge.tally.sum != NULL)
        return ERR_OK;
    return tally_init(&c->judge.tally, job->sum_dims, job->chunks);
}

void verify_close(struct coordinator *c)
{
    mem_free(c->ballots);
    c->ballots = NULL;
    tally_close(&c->judge.tally);
}

/* --- what is compared ---------------------------------------------------- */

static bool draws(const struct coordinator *c, uint32_t id)
{
    const uint64_t round = (uint64_t)c->key.step << 32 ^
                           (uint64_t)c->key.round << 16 ^ c->key.attempt ^
                           c->key.view << 48;

    return rng_unit_at(c->options.audit_seed, round, id) < c->options.audit;
}

void verify_open(struct coordinator *c)
{
    if (c->ballots == NULL)
        return;
    for (uint32_t id = 0; id < c->code.piece_count; id++)
        c->ballots[id] =
            (struct ballot){.checked = code_plain(&c->code, id) &&
                                       (c->options.verify || draws(c, id))};
}

static const struct ballot *ballot_of(const struct coordinator *c, uint32_t id)
{
    return c->ballots != NULL && c->ballots[id].checked ? &c->ballots[id]
                                                        : NULL;
}

uint32_t verify_wanted(const struct coordinator *c, uint32_t id)
{
    const struct ballot *ballot = ballot_of(c, id);

    if (ballot == NULL)
        return 1;
    if (ballot->disputed)
        return 0;
    CHECK(ballot->count < 2); /* A second one confirms or disputes. */
    return 2 - ballot->count;
}

bool verify_voted(const struct coordinator *c, uint32_t id, uint32_t link)
{
    const struct ballot *ballot = ballot_of(c, id);

    for (uint32_t i = 0; ballot != NULL && i < ballot->count; i++) {
        if (strcmp(ballot->votes[i].name, c->members[link].name) == 0)
            return true;
    }
    return false;
}

/* "It does not fit" is an answer too: one that no tally has. */
static const struct digest refusal;

/* --- the judge ----------------------------------------------------------- */

static void judge_next(struct coordinator *c, struct actions *actions)
{
    uint32_t id = 0;

    if (c->judge.busy || c->phase != COORDINATOR_ROUND || c->ballots == NULL)
        return;
    while (id < c->code.piece_count &&
           (c->piece_in[id] || !c->ballots[id].disputed))
        id++;
    if (id == c->code.piece_count)
        return;
    c->judge.busy = true;
    c->judge.piece = id;
    c->judge.key = c->key;
    c->judge.tally.dims = c->tally.dims;
    tally_clear(&c->judge.tally);
    c->stats.judged++;
    actions_add(actions, ACTION_JUDGE)->computation = (struct computation){
        .what = c->what,
        .first = c->code.pieces[id].first,
        .end = c->code.pieces[id].end,
        .step = c->key.step,
        .name = c->key.weights,
        .exponent = c->trainer.exponent,
        .tally = &c->judge.tally,
    };
}

static void dispute(struct coordinator *c, uint32_t id, struct actions *actions)
{
    c->ballots[id].disputed = true;
    judge_next(c, actions);
}

void verify_alone(struct coordinator *c, uint32_t id, struct actions *actions)
{
    const struct ballot *ballot = ballot_of(c, id);

    if (ballot != NULL && !ballot->disputed && ballot->count > 0)
        dispute(c, id, actions);
}

/* Everyone who said something else than `truth`. */
static void strike_liars(struct coordinator *c, const struct ballot *ballot,
                         const struct digest *truth, struct actions *actions)
{
    for (uint32_t i = 0; i < ballot->count; i++) {
        if (!digest_equal(&ballot->votes[i].digest, truth))
            trust_strike_name(c, ballot->votes[i].name, POISON_LIE, actions);
    }
}

static void keep_truthful(struct ballot *ballot, const struct digest *truth)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ballot->count; i++) {
        if (digest_equal(&ballot->votes[i].digest, truth))
            ballot->votes[kept++] = ballot->votes[i];
    }
    ballot->count = kept;
}

void verify_judged(struct coordinator *c, enum err err, struct actions *actions)
{
    const uint32_t id = c->judge.piece;
    const struct digest truth = tally_digest(&c->judge.tally);
    struct ballot said;

    CHECK(c->judge.busy);
    c->judge.busy = false;
    /* The round may have ended without this piece (approximate codes), or have
     * been begun anew: then there is nothing left to decide. */
    if (c->phase != COORDINATOR_ROUND || !key_equal(&c->judge.key, &c->key)) {
        judge_next(c, actions);
        return;
    }
    if (err != ERR_OK) {
        strike_liars(c, &c->ballots[id], &refusal, actions);
        answers_no_range(c, id, actions);
        return;
    }
    said = c->ballots[id];
    c->ballots[id].truth = truth;
    keep_truthful(&c->ballots[id], &truth);
    /* Before the merge, which may end the round: the next view should do
     * without them. */
    strike_liars(c, &said, &truth, actions);
    CHECK(tally_merge(&c->tally, &c->judge.tally) == ERR_OK);
    answers_judged(c, id, actions);
    judge_next(c, actions);
    balance_round(c, actions);
}

/* --- votes --------------------------------------------------------------- */

static struct vote *vote_of(struct ballot *ballot, const char *name)
{
    for (uint32_t i = 0; i < ballot->count; i++) {
        if (strcmp(ballot->votes[i].name, name) == 0)
            return &ballot->votes[i];
    }
    return NULL;
}

/* The same machine may be back under another name, as it is told to, and must
 * not confirm itself.  Disputed pieces are the judge's. */
void verify_forget(struct coordinator *c, const char *name)
{
    if (c->phase != COORDINATOR_ROUND || c->ballots == NULL)
        return;
    for (uint32_t id = 0; id < c->code.piece_count; id++) {
        struct ballot *ballot = &c->ballots[id];

        if (!c->piece_in[id] && !ballot->disputed &&
            vote_of(ballot, name) != NULL)
            ballot->count = 0; /* It was the only one. */
    }
}

static bool asked_for(const struct coordinator *c, uint32_t id, uint32_t link)
{
    const struct piece_state *piece = &c->pieces[id];

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (piece->assignee[i] == link)
            return true;
    }
    return false;
}

static void keep_vote(struct coordinator *c, uint32_t id, uint32_t link,
                      const struct digest *digest)
{
    struct ballot *ballot = &c->ballots[id];
    struct vote *vote;

    if (ballot->count == VOTES_MAX)
        return;
    vote = &ballot->votes[ballot->count++];
    vote->asked = asked_for(c, id, link);
    vote->digest = *digest;
    memcpy(vote->name, c->members[link].name, NAME_SIZE);
}

/* The piece is in: a late answer is still compared with what was merged. */
static enum verdict late_vote(struct coordinator *c, uint32_t link,
                              const struct ballot *ballot,
                              const struct digest *digest,
                              struct actions *actions)
{
    if (!digest_equal(&ballot->truth, digest))
        trust_strike(c, link, POISON_LIE, actions);
    return VERDICT_DROP;
}

enum verdict verify_vote(struct coordinator *c, uint32_t link, uint32_t id,
                         struct actions *actions)
{
    struct ballot *ballot = c->ballots == NULL ? NULL : &c->ballots[id];
    struct digest digest;
    const struct vote *own;

    if (ballot == NULL || !ballot->checked) {
        c->members[link].unchecked += !c->piece_in[id];
        return VERDICT_COUNT;
    }
    digest = tally_digest(&c->arrived);
    if (c->piece_in[id])
        return late_vote(c, link, ballot, &digest, actions);
    own = vote_of(ballot, c->members[link].name);
    if (own != NULL) {
        /* Who contradicts itself lied at least once. */
        if (!digest_equal(&own->digest, &digest))
            trust_strike(c, link, POISON_LIE, actions);
        return VERDICT_DROP;
    }
    keep_vote(c, id, link, &digest);
    if (ballot->disputed || ballot->count < 2)
        return VERDICT_WAIT;
    if (digest_equal(&ballot->votes[0].digest, &digest) ||
        BUG(BUG_BELIEVE_SECOND)) {
        c->stats.checked++;
        ballot->truth = digest;
        return VERDICT_COUNT;
    }
    dispute(c, id, actions);
    return VERDICT_WAIT;
}

bool verify_refused(struct coordinator *c, uint32_t link, uint32_t id,
                    struct actions *actions)
{
    if (ballot_of(c, id) == NULL)
        return false;
    if (c->piece_in[id] || verify_voted(c, id, link))
        return true;
    keep_vote(c, id, link, &refusal);
    dispute(c, id, actions);
    return true;
}
