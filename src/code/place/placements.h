/*
 * placements.h - the placements there are: X(ENUMERATOR, name), where a file
 * beside this one fills `placement_name` (code/axes.h).
 *
 * A new one comes at the end; docs/codes.md says what else it needs.
 */
#ifndef CODE_PLACE_PLACEMENTS_H
#define CODE_PLACE_PLACEMENTS_H

#define PLACEMENTS(X)                                                          \
    X(ONCE, once)                                                              \
    X(REP, rep)                                                                \
    X(CYCLIC, cyclic)                                                          \
    X(SHIFT, shift)                                                            \
    X(CB, cb)                                                                  \
    X(PARTIAL_FRC, partial_frc)                                                \
    X(PARTIAL_CYCLIC, partial_cyclic)                                          \
    X(MATRIX, matrix)                                                          \
    X(MDS, mds)                                                                \
    X(SGC, sgc)                                                                \
    X(LOCAL, local)                                                            \
    X(STALE, stale)                                                            \
    X(HOMES, homes)                                                            \
    X(CEC, cec)                                                                \
    X(SHADOW, shadow)

#endif /* CODE_PLACE_PLACEMENTS_H */
