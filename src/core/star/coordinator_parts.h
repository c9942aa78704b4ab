/*
 * coordinator_parts.h - the coordinator's files to each other; nobody else's.
 *
 *   coordinator.c  init, close, step: events in, checks out
 *   roster.c       who is here: HELLO, beats, suspicion, death, leave
 *   view.c         which slots they fill: gathering, codes for the living, and
 *                  for what was measured of them
 *   leaves.c       who is behind which relay
 *   homes.c        private data: who has it, who is away
 *   round.c        the step at hand: when it opens, when it may end
 *   work.c         who was given which piece, and is told so
 *   balance.c      pieces that move: stealing, hedging
 *   answers.c      what comes back, counted once
 *   together.c     ... several at once, in one pass over the tally
 *   refusals.c     who says that a piece does not fit its bound
 *   stale.c        staleness: answers to older steps
 *   products.c     rounds on coded data
 *   segments.c     ... their pieces: what is in, what it comes to
 *   deal.c         ... and who is asked for which
 *   pace.c         ... who is how quick, and who lags
 *   combine.c      ... X^T r with numbers of everybody's own
 *   decode.c       what it comes to
 *   commit.c       ... and what follows: the next round, receipts, the end
 *   trust.c        who sent poison, and how often
 *   verify.c       which pieces are compared, and who lied
 *   shipping.c     who is sent which data
 *   peers.c        ... and who gets it from another worker
 */
#ifndef CORE_COORDINATOR_PARTS_H
#define CORE_COORDINATOR_PARTS_H

#include "core/star/coordinator.h"

#define LINK_NONE UINT32_MAX

/* coordinator.c */
/* To the worker or relay `link`, over its relay if it is behind one. */
struct msg *coordinator_send(const struct coordinator *c,
                             struct actions *actions, uint32_t link,
                             enum msg_kind kind);
/* Close its connection; behind a relay the relay does. */
void coordinator_hang_up(const struct coordinator *c, struct actions *actions,
                         uint32_t link);
struct trace *coordinator_trace(struct coordinator *c, struct actions *actions,
                                enum trace_kind kind, uint32_t link);
__attribute__((format(printf, 4, 5))) void
coordinator_fail(struct coordinator *c, struct actions *actions, enum err err,
                 const char *format, ...);
/* Does every step of this run, computed again, give the same bits? */
bool coordinator_promises_bits(const struct coordinator *c);

/* roster.c */
bool member_here(const struct coordinator *c, uint32_t link);
bool member_healthy(const struct coordinator *c, uint32_t link);
/* The session on `link` is over; its pieces go back, its slot is empty. */
void roster_remove(struct coordinator *c, uint32_t link, enum trace_kind kind,
                   struct actions *actions);
void roster_hello(struct coordinator *c, uint32_t link,
                  const struct msg_hello *hello, struct actions *actions);
void roster_beat(struct coordinator *c, uint32_t link,
                 const struct msg_beat *beat, struct actions *actions);
/* WATCH: the relay on `link` is there, and so are its leaves but some. */
void roster_relay_watch(struct coordinator *c, uint32_t link,
                        const struct msg_watch *watch, struct actions *actions);
/* A SUM: the relay is there, too. */
void roster_relay_heard(struct coordinator *c, uint32_t link);
/* Where its time went. */
void roster_pulse(struct coordinator *c, uint32_t link,
                  const struct msg_pulse *pulse, struct actions *actions);
void roster_leave(struct coordinator *c, uint32_t link,
                  struct actions *actions);
/* Suspicion and death by silence. */
void roster_watch(struct coordinator *c, struct actions *actions);

/* trust.c */
/* One more broken or lying answer; the third ends the session. */
void trust_strike(struct coordinator *c, uint32_t link, enum poison_kind kind,
                  struct actions *actions);
/* The same for whoever has, or had, this name. */
void trust_strike_name(struct coordinator *c, const char *name,
                       enum poison_kind kind, struct actions *actions);
uint32_t trust_strikes(const struct coordinator *c, const char *name);
bool trust_banned(const struct coordinator *c, const char *name);
/* Does the key name a round that this job never opened? */
bool trust_key_impossible(const struct coordinator *c,
                          const struct round_key *key);

/* verify.c */
/* A new code has other pieces; `verify_close` forgets the old ones. */
MUST_CHECK enum err verify_room(struct coordinator *c, uint32_t pieces);
void verify_close(struct coordinator *c);
/* Draw what is compared in the round that opens. */
void verify_open(struct coordinator *c);
/* Answers from healthy workers that the piece still waits for. */
uint32_t verify_wanted(const struct coordinator *c, uint32_t id);
/* Has the worker on `link` answered this piece, to be compared? */
bool verify_voted(const struct coordinator *c, uint32_t id, uint32_t link);

/* What to do with an answer that is in bound. */
enum verdict {
    VERDICT_COUNT, /* Merge it: nobody compares, or it was just confirmed. */
    VERDICT_WAIT,  /* It is noted; another one must say the same. */
    VERDICT_DROP,  /* Said before, or too late. */
};
/* The answer is laid out in c->arrived.  A lie is struck here. */
enum verdict verify_vote(struct coordinator *c, uint32_t link, uint32_t id,
                         struct actions *actions);
/* A worker says the piece cannot be computed.  False: nobody compares. */
bool verify_refused(struct coordinator *c, uint32_t link, uint32_t id,
                    struct actions *actions);
/* `name` is shut out: what it said, and nobody has confirmed, was not said. */
void verify_forget(struct coordinator *c, const char *name);
/* Nobody else can be asked for the piece: compute it here. */
void verify_alone(struct coordinator *c, uint32_t id, struct actions *actions);
void verify_judged(struct coordinator *c, enum err err,
                   struct actions *actions);

/* homes.c */
/* Is the data private? */
bool homes_on(const struct coordinator *c);
MUST_CHECK enum err homes_room(struct coordinator *c);
void homes_close(struct coordinator *c);
/* NULL: it may come in, as far as data is concerned. */
const char *homes_objection(const struct coordinator *c,
                            const struct msg_hello *hello);
/* What it holds is its home, all of it and nothing else. */
void homes_admit(struct coordinator *c, uint32_t link,
                 const struct msg_hello *hello);
/* Is somebody here for every home?  True where there are none. */
bool homes_manned(const struct coordinator *c);
/* A slot for each owner, and one for a home without; true if that is another
 * code than before. */
bool homes_recount(struct coordinator *c);
uint32_t homes_slots(const struct coordinator *c);
/* Slots that the member on `link` may fill. */
uint32_t homes_slot_first(const struct coordinator *c, uint32_t link);
uint32_t homes_slot_end(const struct coordinator *c, uint32_t link);
/* Of so many chunks. */
uint64_t homes_rows(const struct coordinator *c, const struct chunkset *chunks);
/* Who is away, who is back, and for how long that is borne. */
void homes_watch(struct coordinator *c, struct actions *actions);

/* leaves.c */
/* RELAY: from now on `link` brings workers. */
void leaves_relay(struct coordinator *c, uint32_t link,
                  const struct msg_relay *relay, struct actions *actions);
/* The member that a message from a relay is of; LINK_NONE: of nobody here. */
uint32_t leaves_find(struct coordinator *c, uint32_t link,
                     const struct msg *msg, struct actions *actions);
/* An answer in a SUM from the relay on `link`: whose? */
uint32_t leaves_member(const struct coordinator *c, uint32_t link,
                       uint32_t leaf);
/* The relay is gone, and with it everyone behind it. */
void leaves_down(struct coordinator *c, uint32_t link, struct actions *actions);
/* The job is over: relays, too, may go. */
void leaves_bye(const struct coordinator *c, bool finished, const char *reason,
                struct actions *actions);

/* view.c */
/* Start, if enough are here or patience is over. */
void view_gather(struct coordinator *c, struct actions *actions);
/* At a step boundary: give slots to the living, rebuild the code if it cannot
 * serve them, make the view durable; then open the round. */
void view_form(struct coordinator *c, struct actions *actions);
void view_journaled(struct coordinator *c, struct actions *actions);
/* At a step boundary: if another code is worth a change, the next view has
 * it. */
void view_adapt(struct coordinator *c, struct actions *actions);
/* Could the round end if only the living answer? */
bool view_feasible(struct coordinator *c);
/* Elastic codes: a slot for one who came in mid-round, if there is one. */
void view_seat(struct coordinator *c, uint32_t link);

/* round.c */
void round_open(struct coordinator *c, struct actions *actions);
/* The same evaluation once more, on another scale. */
void round_again(struct coordinator *c, struct actions *actions);
/* What the slot begins with. */
void round_open_slot(struct coordinator *c, uint32_t slot,
                     struct actions *actions);
/* The slot owes nothing any more. */
void round_slot_in(struct coordinator *c, uint32_t slot);
/* May the round end with what is in? */
bool round_enough(const struct coordinator *c);
/* Can those who are here and well not end it, whatever they answer? */
bool round_forsaken(struct coordinator *c);
/* The code's deadline has come: what is in may suffice now. */
void round_deadline(struct coordinator *c, struct actions *actions);
/* When it comes; TIME_NEVER if there is none ahead. */
time_us round_deadline_at(const struct coordinator *c);
/* Numbers of c->what.w. */
uint32_t round_vector_dims(const struct coordinator *c);
/* Of the slot; NULL: it is in none. */
const struct group *round_group(const struct coordinator *c, uint32_t slot);

/* work.c */
bool work_has(const struct piece_state *piece, uint32_t link);
/* False: it has the piece, or the piece has as many as it may. */
bool work_give(struct coordinator *c, uint32_t id, uint32_t link);
/* False: it was not given the piece. */
bool work_take(struct coordinator *c, uint32_t id, uint32_t link);
/* Take all that `link` was to answer. */
void work_forget(struct coordinator *c, uint32_t link);
/* Give it these pieces to begin the round with, and say so. */
void work_open(struct coordinator *c, uint32_t link, const uint32_t *ids,
               uint32_t count, struct actions *actions);
/* Say that it was given more, whether or not it is in the round yet. */
void work_send(struct coordinator *c, uint32_t link, const uint32_t *ids,
               uint32_t count, struct actions *actions);
/* It need not answer these pieces, and is told that it may skip them.  Should
 * it have begun, its answer is as good as any. */
void work_take_back(struct coordinator *c, uint32_t link, const uint32_t *ids,
                    uint32_t count, struct actions *actions);
/* A piece that was moved may be answered by two: no relay must merge it with
 * others, or one piece counted before would void them all (TALLY-1). */
void work_alone(struct coordinator *c, uint32_t id, struct actions *actions);
/* The same for all that were given to several from the start. */
void work_contested(struct coordinator *c, struct actions *actions);
/* Everything outstanding of `link` once more: it was lost on the way. */
void work_resend(struct coordinator *c, uint32_t link, struct actions *actions);
void work_need(struct coordinator *c, uint32_t link, const struct msg_need *msg,
               struct actions *actions);
/* Data for what `link` was given while it was not known what it has. */
void work_ship(struct coordinator *c, uint32_t link, struct actions *actions);
/* Under `steal` a slot also holds what its group may ask it to take over; it
 * travels after the round so that nobody waits for it. */
void work_reserve(struct coordinator *c, uint32_t slot,
                  struct actions *actions);

/* balance.c */
/* Membership or time changed: pieces nobody healthy works on are given out,
 * a coded round that cannot end any more is begun anew. */
void balance_round(struct coordinator *c, struct actions *actions);
/* It may have run out of work. */
void balance_steal(struct coordinator *c, uint32_t link,
                   struct actions *actions);

/* answers.c */
/* What an answer cost, for reports. */
void answers_trace(const struct coordinator *c, uint32_t link,
                   int64_t compute_us, struct trace *trace);
void answers_tally(struct coordinator *c, uint32_t link,
                   const struct msg_tally *msg, struct actions *actions);
/* Would it count, if its sums are good, whatever came of others before it? */
bool answers_countable(const struct coordinator *c,
                       const struct msg_tally *msg);
void answers_sum(struct coordinator *c, uint32_t link,
                 const struct msg_sum *msg, struct actions *actions);
void answers_row(struct coordinator *c, uint32_t link,
                 const struct msg_row *msg, struct actions *actions);
void answers_refuse(struct coordinator *c, uint32_t link,
                    const struct msg_refuse *msg, struct actions *actions);
/* The piece is in, merged from here; the round may be over. */
void answers_judged(struct coordinator *c, uint32_t id,
                    struct actions *actions);
/* Chunks of the piece do not fit, as far as anyone can tell. */
void answers_no_range(struct coordinator *c, uint32_t id,
                      struct actions *actions);

/* refusals.c */
MUST_CHECK enum err refusals_init(struct coordinator *c);
void refusals_close(struct coordinator *c);
bool refusals_has(const struct coordinator *c, uint32_t id, uint32_t link);
/* Is the piece answered by itself? */
bool refusals_plain(const struct coordinator *c, uint32_t id);
/* The same of its coded answer. */
bool refusals_of_row(const struct coordinator *c, uint32_t link);
/* False: it said so before. */
bool refusals_add(struct coordinator *c, uint32_t id, uint32_t link);
/* Was it refused, and is nobody left to ask? */
bool refusals_true(struct coordinator *c, uint32_t id);
/* Do refused rows keep the round from its end, and not a code for all here? */
bool refusals_block(struct coordinator *c);
/* The round could be ended: strike who refused what is in. */
void refusals_settle(struct coordinator *c, struct actions *actions);
void refusals_clear(struct coordinator *c);

/* together.c */
/* Add up the sums of those that will count; bit i of what is returned: number i
 * is in `tally`, and is to be told as such. */
uint64_t together_add(struct coordinator *c, const struct arrival *arrivals,
                      uint32_t count);

/* shipping.c */
#define SHIPPING_COUNT_US (500 * MS_US) /* A worker's look at its disk. */

/* Is it worth waiting for somebody's HAVE or SERVING before slots are given? */
bool shipping_counting(const struct coordinator *c);
MUST_CHECK enum err shipping_room(struct member *member, const struct job *job);
/* After WELCOME: what the chunks are. */
void shipping_describe(struct coordinator *c, uint32_t link,
                       struct actions *actions);
/* Data that the worker lacks of [first, end): sent, or named where it can
 * fetch them itself. */
void shipping_send(struct coordinator *c, uint32_t link, uint32_t first,
                   uint32_t end, struct actions *actions);
/* Shared data is never shipped: tell a worker that does not know yet where it
 * is once more; false if it knows. */
bool shipping_again(struct coordinator *c, uint32_t link,
                    struct actions *actions);
void shipping_have(struct coordinator *c, uint32_t link,
                   const struct msg_have *msg, struct actions *actions);
/* What a worker asked for: the same, but from no peer (PEER-2). */
void shipping_direct(struct coordinator *c, uint32_t link, uint32_t first,
                     uint32_t end, struct actions *actions);

/* peers.c; each does nothing where there are no peers. */
bool peers_on(const struct coordinator *c);
MUST_CHECK enum err peers_room(struct coordinator *c);
void peers_close(struct coordinator *c);
/* After WELCOME: serve. */
void peers_invite(struct coordinator *c, uint32_t link,
                  struct actions *actions);
void peers_serving(struct coordinator *c, uint32_t link,
                   const struct msg_serving *msg, struct actions *actions);
/* It has chunks of [first, end), or is about to. */
void peers_note(struct coordinator *c, uint32_t link, uint32_t first,
                uint32_t end);
/* Who is to give `link` the chunks from `first` on, LINK_NONE if nobody can;
 * *end is moved to where that ends. */
uint32_t peers_source(struct coordinator *c, uint32_t link, uint32_t first,
                      uint32_t *end);
/* NEED, with a peer that did not give what it should. */
void peers_failed(struct coordinator *c, uint32_t link,
                  const struct msg_need *msg, struct actions *actions);
/* Its session is over. */
void peers_gone(struct coordinator *c, uint32_t link);

/* stale.c; each is false, or does nothing, for other codes. */
bool stale_on(const struct coordinator *c);
/* Is the slot at work on its answer, to this step or an older one? */
bool stale_busy(const struct coordinator *c, uint32_t slot);
/* Does `link` owe the answer to just this round? */
bool stale_awaits(const struct coordinator *c, uint32_t link,
                  const struct round_key *key);
/* Is everyone recent enough for the next step?  True for other codes. */
bool stale_may_end(const struct coordinator *c);
/* The slot's answer to round `key` is here: note its age.  False: it counts
 * in the next step. */
bool stale_arrived(struct coordinator *c, uint32_t slot,
                   const struct round_key *key);
/* Did the slot's answer come before this round was open?  Asked once. */
bool stale_was_early(struct coordinator *c, uint32_t slot);
/* Has `link` answered, and to older weights than there are? */
bool stale_behind(const struct coordinator *c, uint32_t link);
/* A new view is coming: nothing of the old one is waited for. */
void stale_call_off(struct coordinator *c, struct actions *actions);
void stale_check(const struct coordinator *c);
/* products.c */
/* samples.c: are there pieces that are samples of others, and is this one? */
bool samples_on(const struct coordinator *c);
bool samples_is_one(const struct coordinator *c, uint32_t piece);
/* Room for their sums. */
size_t samples_numbers(const struct coordinator *c, const struct code *code);
/* Keeps one, the first that comes; false: it is out of bound. */
bool samples_take(struct coordinator *c, const struct msg_tally *msg);
/* What came, and what stands for what did not. */
void samples_decode(struct coordinator *c, const struct sampler *sampler,
                    struct total *out);

/* sizes.c: does the job have samples? */
bool sizes_on(const struct coordinator *c);
/* What they have of the rows in this step. */
double sizes_at(const struct coordinator *c, uint32_t step);
/* Room, and the changes that are in the journal. */
MUST_CHECK enum err sizes_room(struct coordinator *c,
                               const struct recovery *recovery);
void sizes_close(struct coordinator *c);
/* EVENT_SIZE. */
void sizes_change(struct coordinator *c, double size, struct actions *actions);

/* Is this a job on coded data? */
bool product_on(const struct coordinator *c);
/* Is the way back of a gradient to come? */
bool product_halfway(const struct coordinator *c);
/* The number of the optimiser's round, in the key: of coded data each takes
 * several. */
uint32_t product_round(const struct coordinator *c);
/* A new step. */
void product_step(struct coordinator *c);
/* Of c->what, the product that is due. */
void product_open(struct coordinator *c);
/* The shape of the blocks that the code at hand has. */
struct block_shape product_blocks(const struct coordinator *c);
/* Block `slot` as terms, code.parts of them at most; returns how many. */
uint32_t product_block_items(const struct coordinator *c, uint32_t slot,
                             struct item *items);
/* The worker is to hold this block: what it holds of another is void. */
void product_switch(struct coordinator *c, uint32_t link, uint64_t block);
/* Sets of blocks worse than this are not decoded; what one that is has of
 * errors goes into the step's residual. */
double product_rcond(const struct coordinator *c);
void product_note(struct coordinator *c, const struct erasure_set *set);
/* No number of an answer of the slot's is larger; infinite: not known. */
double product_most(const struct coordinator *c, uint32_t slot);
/* Above this an answer is not what the code promises. */
double product_residual_max(const struct coordinator *c);
/* What all rounds of the evaluation come to. */
void product_decode(struct coordinator *c, struct total *out);
/* The round is over: is there another of the same evaluation? */
bool product_more(struct coordinator *c);

/* lines.c */
/* Does the optimiser ask for more of coded data than gradients? */
bool lines_on(const struct coordinator *c);
MUST_CHECK enum err lines_room(struct coordinator *c);
void lines_close(struct coordinator *c);
/* The vector whose scores are missing for what the optimiser asks: it is to be
 * multiplied next.  NULL: all scores that it takes are known. */
const double *lines_unknown_vector(struct coordinator *c);
/* It was, and the scores are in. */
void lines_keep(struct coordinator *c);
/* If no round is needed at all: the answer. */
bool lines_answer(struct coordinator *c, struct total *out);
/* All is known: what is to be multiplied on the way back, to the scores. */
void lines_turn(struct coordinator *c);

/* segments.c */
MUST_CHECK enum err segments_room(struct coordinator *c,
                                  const struct code *code);
void segments_close(struct coordinator *c);
/* Numbers of all answers that are kept. */
size_t segments_numbers(const struct coordinator *c, const struct code *code);
/* Give out the pieces of the round. */
void segments_open(struct coordinator *c, struct actions *actions);
/* Somebody has the slot who came in mid-round: what was asked of the one before
 * was not asked of it. */
void segments_seated(struct coordinator *c, uint32_t slot);
/* Was the member on `link` given all of its pieces in this round? */
bool segments_asked(const struct coordinator *c, uint32_t link,
                    const struct msg_row *msg);
/* Did it come in mid-round? */
bool segments_newcomer(const struct coordinator *c, uint32_t link);
/* Is it of the right length, for pieces of this round? */
bool segments_fit(const struct coordinator *c, const struct msg_row *msg);
/* The piece as an item. */
struct item segments_item(const struct coordinator *c, uint32_t id);
/* An answer to some of its pieces, finite and fitting. */
void segments_take(struct coordinator *c, uint32_t link,
                   const struct msg_row *msg, struct actions *actions);
bool segments_enough(const struct coordinator *c);
/* Who was waited for may have gone: pieces that have enough answers. */
void segments_look_again(struct coordinator *c, struct actions *actions);

/* deal.c */
/* Give out everything that is missing, anew, ... */
void deal_plan(struct coordinator *c, struct actions *actions);
/* ... and, as it opens, a piece to try its hand at to who was passed over for
 * long; ... */
void deal_trials(struct coordinator *c, struct actions *actions);
/* ... or everything to everybody. */
void deal_all(struct coordinator *c, struct actions *actions);
/* The slot is to do these pieces, and what it is at: it is told what is new to
 * it, and what it may skip. */
void deal_slot(struct coordinator *c, uint32_t slot, const uint32_t *list,
               uint32_t count, struct actions *actions);
/* One more answer to a piece whose answers decode badly; false: there is nobody
 * to ask. */
bool deal_one_more(struct coordinator *c, uint32_t id, struct actions *actions);
/* Is somebody at the piece who is counted on? */
bool deal_awaits(const struct coordinator *c, uint32_t id);
/* Is a block nobody's, so that one who joins can be asked? */
bool deal_may_join(const struct coordinator *c);
/* Nobody who is here can mend it: the answers to a piece, or any that could be
 * asked for, decode too badly. */
bool deal_stuck(const struct coordinator *c);
/* The member on `link` has answered the piece. */
void deal_answered(struct coordinator *c, uint32_t link, uint32_t id);
/* Elastic codes: somebody came, went or lags. */
void deal_balance(struct coordinator *c, struct actions *actions);
/* When to look for laggards; TIME_NEVER. */
time_us deal_look_at(const struct coordinator *c);
/* Is the slot's member one to give work to? */
bool deal_counts_on(const struct coordinator *c, uint32_t slot);
/* All of them, to segments.members; returns how many. */
uint32_t deal_members(struct coordinator *c);

/* pace.c */
/* The member has answered the piece. */
void pace_answered(struct coordinator *c, struct member *member, uint32_t id);
/* The round is over: who was how quick? */
void pace_settle(struct coordinator *c);
/* Blocks a microsecond, of half of those whose speed is known; 0: of nobody. */
double pace_usual(struct coordinator *c);
/* Pieces a second. */
double pace_speed(const struct coordinator *c, const struct member *member,
                  double usual);
/* A round has opened: is it the slot's turn to try its hand? */
bool pace_tries(struct coordinator *c, uint32_t slot);
/* Some may have nothing left to do: when to look for laggards. */
void pace_idle(struct coordinator *c);
/* ... and the look. */
void pace_look(struct coordinator *c);

/* combine.c */
/* Is the round at hand of that kind? */
bool combine_on(const struct coordinator *c);
/* The slopes are what is to be multiplied. */
void combine_begin(struct coordinator *c);
void combine_open(struct coordinator *c, struct actions *actions);
/* What the slot multiplies its rows with. */
const double *combine_vector(const struct coordinator *c, uint32_t slot);
/* False: some of it was counted before, or was not asked of the slot. */
bool combine_counts(const struct coordinator *c, uint32_t slot,
                    const struct msg_row *msg);
void combine_add(struct coordinator *c, const double *row);
void combine_balance(struct coordinator *c, struct actions *actions);
/* The round is over: is something left, because it did not come? */
bool combine_more(struct coordinator *c);
/* Is it such a round, of what was left? */
bool combine_again(const struct coordinator *c);

/* decode.c */
/* ERR_UNDECODABLE: these answers do not suffice. */
MUST_CHECK enum err decode_round(struct coordinator *c, struct total *out);

/* commit.c */
/* The code says the round may end: end it, and the step if it was the last. */
void commit_round(struct coordinator *c, struct actions *actions);
void commit_journaled(struct coordinator *c, enum err err,
                      struct actions *actions);
/* Give up: what must be durable now cannot be. */
void commit_fail_disk(struct coordinator *c, enum err err,
                      struct actions *actions);
void commit_checkpointed(struct coordinator *c, uint32_t step, enum err err,
                         struct actions *actions);
/* The step can never end: fail, in a sentence that goes on with what is saved,
 * but save the state first.  Asked again if something is being journaled. */
__attribute__((format(printf, 4, 5))) void
commit_give_up(struct coordinator *c, struct actions *actions, enum err err,
               const char *format, ...);
/* What came of a question: the next one, a receipt, or the end. */
void commit_next(struct coordinator *c, enum trainer_next next,
                 struct actions *actions);
/* A chunk does not fit its scale.  False: that is no fault of the scale. */
bool commit_refused(struct coordinator *c, struct actions *actions);
/* When a stop gives up the step at hand; TIME_NEVER. */
time_us commit_patience_ends(const struct coordinator *c);
/* Told to stop, and those who are here cannot finish the step: stop now. */
void commit_abandon(struct coordinator *c, struct actions *actions);
/* MEASURED: the pass is journaled, and the run goes on or is over. */
void commit_measured(struct coordinator *c, double loss, enum err err,
                     struct actions *actions);
/* To the next step, or to the end. */
void commit_advance(struct coordinator *c, struct actions *actions);

#endif /* CORE_COORDINATOR_PARTS_H */
