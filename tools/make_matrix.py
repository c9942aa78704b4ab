#!/usr/bin/env python3
"""Encoding matrices for --code matrix:FILE, as CSV on standard output.

    tools/make_matrix.py bernoulli WORKERS PARTS D [SEED]
    tools/make_matrix.py expander WORKERS D [SEED]
    tools/make_matrix.py design ORDER
    tools/make_matrix.py graph PARTS D [SEED]

bernoulli  every worker holds every part with probability D / PARTS (Charles,
           Papailiopoulos & Ellenberg, 2017); parts nobody got go to someone
expander   a random D-regular graph's adjacency over D: worker i holds the parts
           of its neighbours (Raviv et al., 2018); undone with decode=one-step
design     points and lines of a projective plane, a symmetric block design: two
           workers share exactly one part (Kadhe, Koyluoglu & Ramchandran,
           2019); ORDER 2, 3, 4 or 5 has 7, 13, 21 or 31 workers
graph      parts are the vertices of a random D-regular graph, workers its
           edges (Glasgow & Wootters, 2021): PARTS x D / 2 workers, two parts
           each
"""
import random
import sys

# Lines of the plane are the shifts of one difference set.
DIFFERENCES = {2: (7, (0, 1, 3)), 3: (13, (0, 1, 3, 9)),
               4: (21, (0, 1, 4, 14, 16)), 5: (31, (0, 1, 3, 8, 12, 18))}


def bernoulli(rng, workers, parts, d):
    rows = [[int(rng.random() < d / parts) for _ in range(parts)]
            for _ in range(workers)]
    for j in range(parts):
        if not any(row[j] for row in rows):
            rng.choice(rows)[j] = 1
    for row in rows:
        if not any(row):
            row[rng.randrange(parts)] = 1
    return rows


def regular_edges(rng, vertices, d):
    """The configuration model, drawn again until no loop and no edge twice."""
    if vertices * d % 2 or d >= vertices:
        sys.exit("make_matrix: no such regular graph: VERTICES x D must be "
                 "even, D below VERTICES")
    while True:
        stubs = [v for v in range(vertices) for _ in range(d)]
        rng.shuffle(stubs)
        edges = {frozenset(stubs[i:i + 2]) for i in range(0, len(stubs), 2)}
        if len(edges) == vertices * d // 2 and \
                all(len(edge) == 2 for edge in edges):
            return sorted(sorted(edge) for edge in edges)


def expander(rng, workers, d):
    rows = [[0] * workers for _ in range(workers)]
    for a, b in regular_edges(rng, workers, d):
        rows[a][b] = rows[b][a] = 1 / d
    return rows


def design(order):
    if order not in DIFFERENCES:
        sys.exit("make_matrix: orders 2, 3, 4 and 5 are there")
    size, line = DIFFERENCES[order]
    return [[int((j - i) % size in line) for j in range(size)]
            for i in range(size)]


def graph(rng, parts, d):
    return [[int(j in edge) for j in range(parts)]
            for edge in regular_edges(rng, parts, d)]


def main():
    kinds = {"bernoulli": (bernoulli, 3), "expander": (expander, 2),
             "graph": (graph, 2)}
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "design":
        rows = design(int(words[1]))
    elif words and words[0] in kinds and \
            0 <= len(words) - 1 - kinds[words[0]][1] <= 1:
        make, count = kinds[words[0]]
        numbers = [int(word) for word in words[1:]]
        rng = random.Random(numbers[count] if len(numbers) > count else 0)
        rows = make(rng, *numbers[:count])
    else:
        sys.exit(__doc__)
    print("#", *words)
    for row in rows:
        print(",".join(f"{value:.17g}" for value in row))


main()
