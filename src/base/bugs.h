/*
 * bugs.h - bugs planted on purpose, to test the tests.
 *
 * Compiled in only with MUSTER_PLANTED_BUGS (tests/planted-*), and all off
 * until a test sets `planted_bug`.  Each must be caught: by the
 * simulator, or by the unit test of what it is in.
 */
#ifndef BASE_BUGS_H
#define BASE_BUGS_H

enum planted_bug {
    BUG_NONE,
    BUG_APPLY_DUPLICATE,  /* Count a tally twice. */
    BUG_STALE_VIEW,       /* Accept an answer of an older view. */
    BUG_MERGE_OVERLAP,    /* Add sums whose chunk sets overlap. */
    BUG_SKIP_FOLDER_SYNC, /* Rename without making the name durable. */
    BUG_SKIP_FINITE,      /* Let NaN and out-of-bound answers in. */
    BUG_STALE_STEP,       /* Accept an answer to an older step. */
    BUG_ONE_SHORT,        /* End a round before its last piece is in. */
    BUG_ROW_TWICE,        /* Fold a coded row in again. */
    BUG_COMBINE_LOST,     /* Input coding: drop what did not come, ... */
    BUG_COMBINE_TWICE,    /* ... add an answer again, ... */
    BUG_COMBINE_RAW,      /* ... do not code anew what is left, ... */
    BUG_COMBINE_ENDLESS,  /* ... or give laggards up round after round. */
    BUG_OLD_SCORES,       /* Take kept scores for those of any weights. */
    BUG_OTHER_BLOCK,      /* Ship the strips of a neighbour's block. */
    BUG_FORGET_DEAD,      /* Give a dead worker's pieces to nobody. */
    BUG_OLD_COMPUTE,      /* Worker: send what was called off as the new. */
    BUG_OLD_WEIGHTS,      /* Worker: take a new round, keep the old weights. */
    BUG_UNSYNCED_VIEW,    /* Use a view before it is durable. */
    BUG_UNSYNCED_STEP,    /* ... an approximate step. */
    BUG_SKIP_FILE_SYNC,   /* Rename a checkpoint that is not durable. */
    BUG_IN_PLACE,         /* Write over the only whole checkpoint. */
    BUG_KEEP_TORN,        /* Go on behind the torn end of a journal. */
    BUG_BELIEVE_SECOND,   /* Merge a second answer that says something else. */
    BUG_RELAY_TWICE,      /* A relay adds a second answer to a piece. */
    BUG_FETCH_HELD,       /* Worker: count a chunk it failed to fetch. */
    BUG_PEER_AGAIN,       /* Name the peer that failed once more. */
    BUG_DRAW_TWICE,       /* A batch begins with the row the last one ended
                             with. */
    BUG_OLD_BATCH,        /* Worker: draw the batch of the step before. */
    BUG_OLD_DROPS,        /* A network drops what it dropped in step 0. */
    BUG_FORGET_SCALE,     /* Resume on the scale that runs begin with. */
    BUG_FORGET_PASSES,    /* ... with all patience left. */
    BUG_SAMPLE_SHIFT,     /* Samples: scale a variance back as a sum, ... */
    BUG_SAMPLE_OTHER,     /* ... take that of a neighbour's part, ... */
    BUG_SAMPLE_ROWS,      /* ... count the rows of missing parts, too, ... */
    BUG_SAMPLE_OLD,       /* ... keep the one of an earlier step, ... */
    BUG_SAMPLE_EVEN,      /* ... weigh all its rows alike, ... */
    BUG_SAMPLE_AGAIN,     /* ... draw the same rows in every step, ... */
    BUG_SAMPLE_TURNED,    /* ... shrink the wrong way, ... */
    BUG_SAMPLE_SHARE, /* ... take the share asked for for the one drawn, ... */
    BUG_SAMPLE_EXACT, /* ... and call a step with one in it exact. */
    BUG_SIZE_SOON,    /* Another size of samples: in mid-pass, ... */
    BUG_SIZE_LOST,    /* ... not journaled, ... */
    BUG_SIZE_OLD,     /* ... not told to who computes, ... */
    BUG_SIZE_FORGOTTEN,  /* ... lost with a life of the coordinator. */
    BUG_RING_STALE_VIEW, /* A ring: count a slice of another view, ... */
    BUG_RING_AGAIN,      /* ... feed a total twice, ... */
    BUG_RING_NO_STATE,   /* ... lose the state that a joiner is sent, ... */
    BUG_RING_UNEQUAL,    /* ... merge sides that stand at other steps, ... */
    BUG_RING_CHAIN,      /* ... put a receipt's hash into the key, ... */
    BUG_RING_OVERLAP,    /* ... give a chunk to two, ... */
    BUG_RING_ATTEMPT,    /* ... count a slice of an older attempt, ... */
    BUG_RING_DEAD,       /* ... keep a view with a dead member, ... */
    BUG_RING_REFUSAL,    /* ... keep to oneself that a chunk does not fit, */
    BUG_RING_BEHIND,     /* ... take the state of who is behind, ... */
    BUG_RING_EARLY,      /* ... lose what comes before it is asked for, ... */
    BUG_RING_LOSS,       /* ... not add up the losses of others, ... */
    BUG_RING_UNSEALED,   /* ... count lent sums that have changed, ... */
    BUG_RING_IN_PLACE,   /* ... lay steps ready where the state is, ... */
    BUG_RING_UNSURE,     /* ... step for all what has changed in memory, ... */
    BUG_RING_OWED,       /* ... and wait for ever for what does not come. */
    BUG_SUM_HALF,        /* A group: have a total without all its parts, ... */
    BUG_SUM_ALONE,       /* ... return before all have it, ... */
    BUG_SUM_STALE,       /* ... take what was sent in another view, ... */
    BUG_SUM_THAW,        /* ... go on in a view after STATE, ... */
    BUG_SUM_EARLY,       /* ... lose what others give for the next call, ... */
    BUG_SUM_MINORITY,    /* ... let any side of a partition go on, ... */
    BUG_SUM_FORGET,      /* ... propose in place of what was accepted, ... */
    BUG_SUM_OPTIMIST,    /* ... commit what one has and others have not, ... */
    BUG_SUM_PESSIMIST,   /* ... begin again what some have returned, ... */
    BUG_SUM_DEAF,        /* ... and keep a view in which a link broke. */
};

#ifdef MUSTER_PLANTED_BUGS
extern enum planted_bug planted_bug;
#define BUG(x) (planted_bug == (x))
#else
#define BUG(x) 0
#endif

#endif /* BASE_BUGS_H */
