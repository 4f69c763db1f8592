/* What the points of a state come to: L̂(β) = c·β + max { Σ φ_j δ_j : Σ φ_j b_j <= β }, δ_j = v_j - c·b_j. */
#include "kernel.h"

#define BLOCK 256
#define NUDGE 1e-7 /* of a mass: what is added to each intent so that the program is not degenerate */
#define STEPS 60
#define SMALL 1e-9 /* entries that are too small to exchange by */
#define WORN 100   /* exchanges after which rounding errors are left behind */

/* The place in [0, end) whose point rises most above the plane of corners and prices; -1 if none does. */
static int above_prices(Kernel *k, const Shelf *shelf, int end, const double *price) {
    double at[BLOCK], most = 1e-9;
    int best = -1;
    k->work += (double)k->n_t * end;
    for (int j0 = 0; j0 < end; j0 += BLOCK) {
        int len = end - j0 < BLOCK ? end - j0 : BLOCK;
        for (int j = 0; j < len; j++) at[j] = shelf->gain[j0 + j];
        for (int t = 0; t < k->n_t; t++) {
            const double *restrict c = shelf->coordinate[t] + j0;
            double f = price[t];
            if (f == 0) continue;
            for (int j = 0; j < len; j++) at[j] -= f * c[j];
        }
        double high = at[0];
        for (int j = 1; j < len; j++) high = at[j] > high ? at[j] : high;
        if (high > most) {
            int j = 0;
            while (at[j] != high) j++;
            most = high;
            best = j0 + j;
        }
    }
    return best;
}

/* Part a mass among the points of a basis: x[t] of each; whether there is enough of everything. */
static int parted(const Basis *basis, const double *mass_, int n_t, double *x) {
    for (int t = 0; t < n_t; t++) {
        x[t] = dot(basis->inverse[t], mass_, n_t);
        if (!(x[t] >= 0)) return 0;
    }
    return 1;
}

/* Let another point take the place of one of a basis; whether it can. */
static int exchanged(Basis *basis, const Shelf *shelf, int j, int n_t, double *x) {
    double entering[INTENTS], least = 1e300;
    int r = -1;
    for (int t = 0; t < n_t; t++) {
        entering[t] = 0;
        for (int u = 0; u < n_t; u++) entering[t] += basis->inverse[t][u] * shelf->coordinate[u][j];
        double much = x[t] > 0 ? x[t] : 0;
        if (entering[t] > SMALL && much / entering[t] < least) {
            least = much / entering[t];
            r = t;
        }
    }
    if (r < 0) return 0;
    for (int u = 0; u < n_t; u++) basis->inverse[r][u] /= entering[r];
    x[r] /= entering[r];
    for (int t = 0; t < n_t; t++) {
        if (t == r || entering[t] == 0) continue;
        for (int u = 0; u < n_t; u++) basis->inverse[t][u] -= entering[t] * basis->inverse[r][u];
        x[t] -= entering[t] * x[r];
    }
    basis->node[r] = shelf->node[j];
    return 1;
}

/* L̂(β), with the plane that touches it, and the φ that make it up.

   The simplex method on as many rows as there are intents, from a basis that will do if one is remembered; points in
   front are looked at first. */
double hull(Kernel *k, int state, const double *beta, double *plane, int *n, int *which, double *share) {
    Points *v = &k->points;
    Shelf *shelf = &v->shelf[state];
    int n_t = k->n_t, used = 0, from[INTENTS], begun = -1, steps = 0;
    double nudged[INTENTS], x[INTENTS], price[INTENTS], part[INTENTS], all = sum(beta, n_t);
    const double *corner = v->corner + state * n_t;
    if (!v->bases[state]) v->bases[state] = NEW(Basis, BASES);
    Basis basis, *known = v->bases[state];
    for (int t = 0; t < n_t; t++) nudged[t] = beta[t] + NUDGE * all / n_t;
    for (int y = 0; y < BASES && begun < 0; y++)
        if (known[y].made && known[y].made < WORN && parted(&known[y], nudged, n_t, x)) begun = y;
    if (begun >= 0) basis = known[begun];
    for (int t = 0; t < n_t && begun < 0; t++) {
        for (int u = 0; u < n_t; u++) basis.inverse[t][u] = t == u;
        x[t] = nudged[t];
        basis.node[t] = -1;
        basis.made = 0;
    }
    for (; steps < STEPS; steps++) {
        for (int t = 0; t < n_t; t++) price[t] = 0;
        for (int u = 0; u < n_t; u++)
            for (int t = 0; t < n_t && basis.node[u] >= 0; t++)
                price[t] += shelf->gain[v->place[basis.node[u]]] * basis.inverse[u][t];
        int j = above_prices(k, shelf, shelf->n < 2 * FRONT ? shelf->n : FRONT, price);
        if (j < 0 && shelf->n >= 2 * FRONT) {
            j = above_prices(k, shelf, shelf->n, price);
            if (j >= 0) j = shelf_front(shelf, n_t, j, v->place);
        }
        if (j < 0 || !exchanged(&basis, shelf, j, n_t, x)) break;
    }
    if (steps) { /* a new one */
        basis.made += steps;
        known[v->last[state]++ % BASES] = basis;
    }
    double value = dot(corner, beta, n_t), room = 1, taken[INTENTS];
    for (int t = 0; t < n_t; t++) {
        if (plane) plane[t] = corner[t] + (price[t] > 0 ? price[t] : 0);
        taken[t] = 0;
    }
    for (int t = 0; t < n_t; t++) { /* what has an intent that is not there cannot be had at all */
        int at = basis.node[t] < 0 ? -1 : v->place[basis.node[t]], possible = at >= 0 && x[t] > 1e-12;
        for (int u = 0; u < n_t && possible; u++) possible = beta[u] > 0 || !(shelf->coordinate[u][at] > 0);
        if (!possible) continue;
        from[used] = at;
        part[used++] = x[t];
        for (int u = 0; u < n_t; u++) taken[u] += x[t] * shelf->coordinate[u][at];
    }
    for (int u = 0; u < n_t; u++)
        if (taken[u] > beta[u] && beta[u] / taken[u] < room) room = beta[u] / taken[u];
    for (int y = 0; y < used; y++) {
        value += part[y] * room * shelf->gain[from[y]];
        if (which) {
            which[y] = shelf->node[from[y]];
            share[y] = part[y] * room;
        }
    }
    if (n) *n = used;
    return value;
}
