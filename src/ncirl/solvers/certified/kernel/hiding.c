/* Plans that reveal nothing until their state is left: x secures min_d (x·away) / (1 - x·stay). */
#include "kernel.h"

#define ROUNDS 12

/* The attacker's optimal mix x of the matrix game M[a][d] among some actions. */
static void matrix_game(Kernel *k, const State *s, const byte *may, const double *game, double *x) {
    Tableau *t = &k->small;
    size mark = k->scratch.used;
    int *var = TAKE(k, int, s->n_a + 1), n = 1, first = -1, slack;
    double *coef = TAKE(k, double, s->n_a + 1), one = 1, all = 0;
    tableau_clear(t);
    int total = tableau_row(t, 0, 0, 0, 1, FIXED);
    var[0] = tableau_column(t, 0, 0, 0, 1, FREE_);
    for (int a = 0; a < s->n_a; a++)
        if (may[a]) {
            if (first < 0) first = a;
            var[n++] = tableau_column(t, 1, &total, &one, 0, NONNEGATIVE);
        }
    tableau_enter(t, total, var[1]);
    int worst = 0;
    for (int d = 1; d < s->n_d; d++)
        if (game[first * s->n_d + d] < game[first * s->n_d + worst]) worst = d;
    for (int y = 0; y < s->n_d; y++) { /* the defence that holds the first action down comes first: then all is feasible */
        int d = y == 0 ? worst : y <= worst ? y - 1 : y;
        n = 1;
        coef[0] = 1;
        for (int a = 0; a < s->n_a; a++)
            if (may[a]) coef[n++] = -game[a * s->n_d + d];
        slack = tableau_row(t, n, var, coef, 0, NONNEGATIVE);
        if (y == 0) tableau_enter(t, slack, var[0]);
    }
    tableau_primal(t);
    k->work += t->work;
    t->work = 0;
    n = 1;
    for (int a = 0; a < s->n_a; a++) {
        x[a] = may[a] ? value_of(t, var[n++]) : 0;
        if (x[a] < 1e-12) x[a] = 0;
        all += x[a];
    }
    for (int a = 0; a < s->n_a; a++) x[a] = all > 0 ? x[a] / all : a == first;
    k->scratch.used = mark;
}

/* Look for one that secures more than is known; whether there is one. Each round is a matrix game. */
int hiding(Kernel *k, const State *s, const double *belief, double known, double *plan) {
    int n_t = k->n_t, n_a = s->n_a, n_d = s->n_d, any = 0, found = 0;
    size mark = k->scratch.used;
    double *away = TAKE(k, double, n_a * n_d), *stay = TAKE(k, double, n_a * n_d), *game = TAKE(k, double, n_a * n_d);
    double *worth = TAKE(k, double, s->n_s), *x = TAKE(k, double, n_a);
    byte *may = TAKE(k, byte, n_a);
    for (int y = 0; y < s->n_s; y++)
        worth[y] = s->successors[y] == s->number ? 0 : hull(k, s->successors[y], belief, 0, 0, 0, 0);
    for (int a = 0; a < n_a; a++) {
        may[a] = 1;
        for (int t = 0; t < n_t; t++) may[a] &= s->may_attack[a * n_t + t] || !(belief[t] > 0);
        any |= may[a];
        for (int d = 0; d < n_d; d++) {
            away[a * n_d + d] = dot(belief, s->reward + (a * n_d + d) * n_t, n_t);
            stay[a * n_d + d] = 0;
        }
    }
    for (int i = 0; i < s->n_o; i++)
        for (int a = s->by_action ? s->owner[i] : 0; a < (s->by_action ? s->owner[i] + 1 : n_a); a++)
            for (int d = s->by_action ? 0 : s->owner[i]; d < (s->by_action ? n_d : s->owner[i] + 1); d++) {
                double chance = k->discount * mass(s, i, a) * weight(s, i, d);
                if (s->leads[i] == s->number) stay[a * n_d + d] += chance;
                else away[a * n_d + d] += chance * worth[s->toward[i]];
            }
    for (int round = 0; round < ROUNDS && any; round++) {
        double least = 1e300;
        for (int z = 0; z < n_a * n_d; z++) game[z] = away[z] + stay[z] * known;
        matrix_game(k, s, may, game, x);
        for (int d = 0; d < n_d; d++) {
            double gets = 0, again = 0;
            for (int a = 0; a < n_a; a++) {
                gets += x[a] * away[a * n_d + d];
                again += x[a] * stay[a * n_d + d];
            }
            if (gets / (1 - again) < least) least = gets / (1 - again);
        }
        if (!(least > known + ENOUGH * k->missed)) break;
        known = least;
        found = 1;
        for (int a = 0; a < n_a; a++)
            for (int t = 0; t < n_t; t++) plan[a * n_t + t] = x[a] * belief[t];
    }
    k->scratch.used = mark;
    return found;
}
