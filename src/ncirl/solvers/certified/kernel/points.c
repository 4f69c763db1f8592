/* The attacker's controller: v_n = min_d Σ A_n(a,θ) gain(a,d,θ) + γ Σ_i weight[i,d] Σ_j φ_ij (v_j - c·b_j). */
#include "kernel.h"

#define BLOCK 256
#define NUDGE 1e-7   /* of a mass: what is added to each intent so that the hull's program is not degenerate */
#define STEPS 60
#define ENOUGH 0.2   /* of what may be missed: a rise worth a point */
#define AGAIN 0.02   /* one worth another plan at the same belief */
#define NEWS 0.1     /* and one worth telling */
#define ROUNDS 12

int points_new(Kernel *k, int state, const double *belief) {
    Points *v = &k->points;
    if (v->n == v->room) {
        int had = v->room, room = 2 * had + 256;
        MORE(v->state, had, room);
        MORE(v->place, had, room);
        MORE(v->plan, had, room);
        MORE(v->link, had, room);
        MORE(v->base_at, had, room);
        MORE(v->worth, had, room);
        MORE(v->told, had, room);
        MORE(v->belief, had * k->n_t, room * k->n_t);
        v->room = room;
    }
    int me = v->n++;
    v->state[me] = state;
    v->place[me] = -1;
    v->worth[me] = v->told[me] = -1e300;
    v->link[me] = (Span){v->links.n, 0};
    for (int t = 0; t < k->n_t; t++) v->belief[(size)me * k->n_t + t] = belief[t];
    return me;
}

/* Give a node its plan A[a][θ] over all actions. */
void points_planned(Kernel *k, int node, const double *plan) {
    Points *v = &k->points;
    const State *s = &k->state[v->state[node]];
    int n_t = k->n_t;
    v->plan[node] = (Span){v->n_planned, 0};
    for (int a = 0; a < s->n_a; a++) {
        if (!(sum(plan + a * n_t, n_t) > 0)) continue;
        if (v->n_planned == v->planned_room) {
            int had = v->planned_room, room = 2 * had + 1024;
            MORE(v->action, had, room);
            MORE(v->mass, had * n_t, room * n_t);
            v->planned_room = room;
        }
        v->action[v->n_planned] = a;
        for (int t = 0; t < n_t; t++) v->mass[(size)v->n_planned * n_t + t] = plan[a * n_t + t];
        v->n_planned++;
        v->plan[node].n++;
    }
    if (v->n_base + s->n_d > v->base_room) {
        int had = v->base_room, room = 2 * had + 1024 + s->n_d;
        MORE(v->base, had, room);
        v->base_room = room;
    }
    v->base_at[node] = v->n_base;
    for (int d = 0; d < s->n_d; d++) {
        double gets = 0;
        for (int a = 0; a < s->n_a; a++) gets += dot(plan + a * n_t, s->gain + (a * s->n_d + d) * n_t, n_t);
        v->base[v->n_base++] = gets;
    }
}

/* Put a point on the shelf of its state, or tell what it is worth now. */
void points_put(Kernel *k, int node) {
    Points *v = &k->points;
    int state = v->state[node];
    Shelf *shelf = &v->shelf[state];
    const double *belief = v->belief + (size)node * k->n_t;
    if (v->place[node] < 0) shelf_add(shelf, k->n_t, node, belief, v->place);
    shelf->gain[v->place[node]] = v->worth[node] - dot(v->corner + state * k->n_t, belief, k->n_t);
    if (!(v->worth[node] > v->told[node] + NEWS * k->missed)) return;
    v->told[node] = v->worth[node];
    if (shelf->n_news == shelf->news_room) {
        int had = shelf->news_room, room = 2 * had + 256;
        MORE(shelf->news, had, room);
        shelf->news_room = room;
    }
    shelf->news[shelf->n_news++] = node;
}

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
        if (x[t] < 0) return 0;
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
        if (entering[t] > 1e-11 && much / entering[t] < least) {
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

/* L̂(β) = c·β + max { Σ φ_j δ_j : Σ φ_j b_j <= β }, with the plane that touches it, and the φ that make it up.

   The simplex method on as many rows as there are intents, from a basis that will do if one is remembered; points in
   front are looked at first. */
double hull(Kernel *k, int state, const double *beta, double *plane, int *n, int *which, double *share) {
    Points *v = &k->points;
    Shelf *shelf = &v->shelf[state];
    int n_t = k->n_t, used = 0, from[INTENTS], begun = -1, steps = 0;
    double nudged[INTENTS], x[INTENTS], price[INTENTS], part[INTENTS], all = sum(beta, n_t);
    const double *corner = v->corner + state * n_t;
    Basis basis, *known = v->bases + state * BASES;
    for (int t = 0; t < n_t; t++) nudged[t] = beta[t] + NUDGE * all / n_t;
    for (int y = 0; y < BASES && begun < 0; y++)
        if (known[y].made && parted(&known[y], nudged, n_t, x)) begun = y;
    if (begun >= 0) basis = known[begun];
    for (int t = 0; t < n_t && begun < 0; t++) {
        for (int u = 0; u < n_t; u++) basis.inverse[t][u] = t == u;
        x[t] = nudged[t];
        basis.node[t] = -1;
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
        basis.made = 1;
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

int points_missed(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = k->n_t, added = 0;
    for (int i = 0; i < s->n_o; i++) {
        if (p->values[i] < 0) continue;
        double beta[INTENTS], plane[INTENTS], value = value_of(&p->t, p->values[i]);
        posterior(s, i, k->answer.plan, n_t, beta);
        if (!(sum(beta, n_t) > 10 * ACTIVE)) continue;
        hull(k, s->leads[i], beta, plane, 0, 0, 0);
        if (value > dot(plane, beta, n_t) + k->missed) {
            program_plane(p, i, plane, -1);
            added++;
        }
    }
    return added;
}

/* What a node secures with what its successors secure now, and the defence that holds it down.

   A node that leads to itself gets x(d) + y(d) v against d, so that v = min_d x(d) / (1 - y(d)). */
double points_value(Kernel *k, int node, int *answer) {
    Points *v = &k->points;
    const State *s = &k->state[v->state[node]];
    int n_t = k->n_t;
    size mark = k->scratch.used;
    double *gets = TAKE(k, double, s->n_d), *stay = TAKE(k, double, s->n_d), least = 1e300;
    for (int d = 0; d < s->n_d; d++) {
        gets[d] = v->base[v->base_at[node] + d];
        stay[d] = 0;
    }
    for (int z = v->link[node].at; z < v->link[node].at + v->link[node].n; z++) {
        int i = v->links.observation[z], to = v->links.to[z];
        double share = k->discount * v->links.share[z], itself = to == node ? share : 0;
        double sure = dot(v->corner + v->state[to] * n_t, v->belief + (size)to * n_t, n_t);
        double gain = share * ((to == node ? 0 : v->worth[to]) - sure);
        for (int d = s->by_action ? 0 : s->owner[i]; d < (s->by_action ? s->n_d : s->owner[i] + 1); d++) {
            double chance = weight(s, i, d);
            gets[d] += chance * gain;
            stay[d] += chance * itself;
        }
    }
    for (int d = 0; d < s->n_d; d++)
        if (gets[d] / (1 - stay[d]) < least) {
            least = gets[d] / (1 - stay[d]);
            if (answer) *answer = d;
        }
    k->scratch.used = mark;
    k->work += (double)v->link[node].n * (s->n_d + n_t);
    return least;
}

/* Give a node its links: what serves the posteriors of a plan best; where nothing is revealed one stays oneself. */
static void linked(Kernel *k, int node, const double *plan, int hiding) {
    Points *v = &k->points;
    const State *s = &k->state[v->state[node]];
    int n_t = k->n_t;
    v->link[node] = (Span){v->links.n, 0};
    for (int i = 0; i < s->n_o; i++) {
        double beta[INTENTS], share[INTENTS], all;
        int which[INTENTS], n;
        posterior(s, i, plan, n_t, beta);
        if (!((all = sum(beta, n_t)) > 1e-12)) continue;
        if (hiding && s->leads[i] == s->number) {
            n = 1;
            which[0] = node;
            share[0] = all;
        } else hull(k, s->leads[i], beta, 0, &n, which, share);
        for (int y = 0; y < n; y++) links_add(&v->links, i, which[y], share[y]);
        v->link[node].n += n;
    }
}

/* A plan as the program has it, made one for just this belief. */
static void cleaned(Kernel *k, const State *s, const double *belief, double *plan) {
    int n_t = k->n_t;
    for (int t = 0; t < n_t; t++) {
        double all = 0;
        for (int a = 0; a < s->n_a; a++) {
            if (!s->may_attack[a * n_t + t]) plan[a * n_t + t] = 0;
            all += plan[a * n_t + t];
        }
        for (int a = 0; a < s->n_a && !(all > 1e-12); a++)
            if (s->may_attack[a * n_t + t]) all = plan[a * n_t + t] = 1;
        for (int a = 0; a < s->n_a; a++) plan[a * n_t + t] *= belief[t] / all;
    }
}

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

/* Find the plan that reveals nothing until the state is left: x secures min_d (x·away) / (1 - x·stay). */
static int hiding(Kernel *k, const State *s, const double *belief, double known, double *plan) {
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

/* Keep a point at a belief if it secures more than is known, in place of another one or as a new one: one that plays
   `planned`, if anything is, or one that reveals nothing until the state is left. Return the node there is then, or -1. */
int points_update(Kernel *k, int state, const double *at, const double *planned, int instead) {
    Points *v = &k->points;
    const State *s = &k->state[state];
    int n_t = k->n_t, n = v->n, n_links = v->links.n, n_planned = v->n_planned, n_base = v->n_base;
    size mark = k->scratch.used;
    double belief[INTENTS], *plan = TAKE(k, double, s->n_a * n_t), value = -1e300, known;
    for (int t = 0; t < n_t; t++) belief[t] = at[t]; /* which may move */
    known = instead < 0 ? hull(k, state, belief, 0, 0, 0, 0) : v->worth[instead];
    int me = points_new(k, state, belief);
    if (planned) {
        for (int z = 0; z < s->n_a * n_t; z++) plan[z] = planned[z];
        cleaned(k, s, belief, plan);
        points_planned(k, me, plan);
        linked(k, me, plan, 0);
        value = points_value(k, me, 0);
    }
    if (s->loops && hiding(k, s, belief, value > known ? value : known, plan)) {
        points_planned(k, me, plan);
        linked(k, me, plan, 1);
        value = points_value(k, me, 0);
    }
    k->scratch.used = mark;
    if (!(value > known + (instead < 0 ? ENOUGH : AGAIN) * k->missed)) {
        v->n = n;
        v->links.n = n_links;
        v->n_planned = n_planned;
        v->n_base = n_base;
        return instead;
    }
    if (instead >= 0) { /* whatever refers to it profits */
        v->plan[instead] = v->plan[me];
        v->link[instead] = v->link[me];
        v->base_at[instead] = v->base_at[me];
        for (int z = v->link[me].at; z < v->link[me].at + v->link[me].n; z++)
            if (v->links.to[z] == me) v->links.to[z] = instead;
        v->n = me;
        me = instead;
    }
    v->worth[me] = value;
    points_put(k, me);
    return me;
}

/* Carry rises through all nodes. */
void points_sweep(Kernel *k, int most) {
    Points *v = &k->points;
    for (int sweep = 0; sweep < most; sweep++) {
        double risen = 0;
        for (int n = 0; n < v->n; n++) {
            double value = points_value(k, n, 0);
            if (!(value > v->worth[n])) continue;
            if (value - v->worth[n] > risen) risen = value - v->worth[n];
            v->worth[n] = value;
            points_put(k, n);
        }
        if (risen < 1e-8) return;
    }
}
