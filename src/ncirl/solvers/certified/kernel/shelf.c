/* What is compared at a state, by coordinates, so that a comparison is a sum of columns. */
#include "kernel.h"

void shelf_add(Shelf *shelf, int n_t, int node, const double *coordinates, int *place) {
    if (shelf->n + 1 >= shelf->room) { /* one place beyond the last is for exchanges */
        int had = shelf->room, room = 2 * had + 64;
        for (int t = 0; t < n_t; t++) MORE(shelf->coordinate[t], had, room);
        MORE(shelf->gain, had, room);
        MORE(shelf->node, had, room);
        shelf->room = room;
    }
    for (int t = 0; t < n_t; t++) shelf->coordinate[t][shelf->n] = coordinates[t];
    shelf->node[shelf->n] = node;
    place[node] = shelf->n++;
    shelf->changes++;
    shelf_front(shelf, n_t, place[node], place);
}

static void move(Shelf *shelf, int n_t, int from, int to, int *place) {
    for (int t = 0; t < n_t; t++) shelf->coordinate[t][to] = shelf->coordinate[t][from];
    shelf->gain[to] = shelf->gain[from];
    shelf->node[to] = shelf->node[from];
    place[shelf->node[to]] = to;
}

void shelf_drop(Shelf *shelf, int n_t, int at, int *place) {
    place[shelf->node[at]] = -1;
    if (at != --shelf->n) move(shelf, n_t, shelf->n, at, place);
}

int shelf_front(Shelf *shelf, int n_t, int at, int *place) {
    if (at < FRONT) return at;
    int to = shelf->turn++ % FRONT;
    move(shelf, n_t, to, shelf->n, place);
    move(shelf, n_t, at, to, place);
    move(shelf, n_t, shelf->n, at, place);
    return to;
}
