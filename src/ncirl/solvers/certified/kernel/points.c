/* The attacker's controller: v_n = min_d Σ A_n(a,θ) gain(a,d,θ) + γ Σ_i weight[i,d] Σ_j φ_ij (v_j - c·b_j). */
#include "kernel.h"

#define AGAIN 0.02 /* of what may be missed: a rise worth another plan at the same belief */
#define NEWS 0.1   /* and one worth telling */
#define SLIGHT 1e-9 /* a rise not worth carrying on */

int points_new(Kernel *k, int state, const double *belief) {
    Points *v = &k->points;
    if (v->n == v->room) {
        int had = v->room, room = 2 * had + 256;
        MORE(v->state, had, room);
        MORE(v->place, had, room);
        MORE(v->plan, had, room);
        MORE(v->link, had, room);
        MORE(v->base_at, had, room);
        MORE(v->answer, had, room);
        MORE(v->tried, had, room);
        MORE(v->looked, had, room);
        MORE(v->rose, had, room);
        MORE(v->sure, had, room);
        MORE(v->worth, had, room);
        MORE(v->told, had, room);
        MORE(v->belief, had * k->n_t, room * k->n_t);
        v->room = room;
    }
    int me = v->n++;
    v->state[me] = state;
    v->place[me] = -1;
    v->worth[me] = v->told[me] = -1e300;
    v->sure[me] = dot(v->corner + state * k->n_t, belief, k->n_t);
    v->looked[me] = v->rose[me] = v->answer[me] = 0;
    v->tried[me] = -1;
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
    v->rose[node] = ++v->clock;
    if (v->place[node] < 0) shelf_add(shelf, k->n_t, node, v->belief + (size)node * k->n_t, v->place);
    shelf->gain[v->place[node]] = v->worth[node] - v->sure[node];
    if (!(v->worth[node] > v->told[node] + NEWS * k->missed)) return;
    v->told[node] = v->worth[node];
    if (shelf->n_news == shelf->news_room) {
        int had = shelf->news_room, room = 2 * had + 256;
        MORE(shelf->news, had, room);
        shelf->news_room = room;
    }
    shelf->news[shelf->n_news++] = node;
}

int points_missed(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = k->n_t, added = 0;
    for (int i = 0; i < s->n_o; i++) {
        if (p->some[i] < 0) continue;
        double beta[INTENTS], plane[INTENTS];
        posterior(s, i, k->answer.plan, n_t, beta);
        if (!(sum(beta, n_t) > 10 * ACTIVE)) continue;
        hull(k, s->leads[i], beta, plane, 0, 0, 0);
        if (program_value(p, i, beta) > dot(plane, beta, n_t) + k->missed) {
            program_plane(p, i, plane, -1);
            added++;
        }
    }
    return added;
}

/* What a node secures with what its successors secure now, and the defence that holds it down.

   A node that leads to itself gets x(d) + y(d) v against d, so that v = min_d x(d) / (1 - y(d)). */
static double value_of_node(Kernel *k, int node) {
    Points *v = &k->points;
    const State *s = &k->state[v->state[node]];
    size mark = k->scratch.used;
    int n_d = s->n_d;
    double *gets = TAKE(k, double, n_d), *stay = TAKE(k, double, n_d), least = 1e300;
    for (int d = 0; d < n_d; d++) {
        gets[d] = v->base[v->base_at[node] + d];
        stay[d] = 0;
    }
    for (int z = v->link[node].at; z < v->link[node].at + v->link[node].n; z++) {
        int i = v->links.observation[z], to = v->links.to[z];
        double share = k->discount * v->links.share[z], gain = share * ((to == node ? 0 : v->worth[to]) - v->sure[to]);
        double again = to == node ? share : 0;
        if (!s->by_action) {
            gets[s->owner[i]] += gain;
            stay[s->owner[i]] += again;
            continue;
        }
        const double *chance = s->table + i * n_d;
        for (int d = 0; d < n_d; d++) gets[d] += chance[d] * gain;
        for (int d = 0; d < n_d && again > 0; d++) stay[d] += chance[d] * again;
    }
    for (int d = 0; d < n_d; d++)
        if (gets[d] / (1 - stay[d]) < least) {
            least = gets[d] / (1 - stay[d]);
            v->answer[node] = d;
        }
    v->looked[node] = v->clock;
    k->scratch.used = mark;
    k->work += (double)v->link[node].n * n_d;
    return least;
}

/* Whether anything that a node leads to has risen since its worth was worked out. */
static int is_stale(const Points *v, int node) {
    if (!v->looked[node]) return 1;
    for (int z = v->link[node].at; z < v->link[node].at + v->link[node].n; z++)
        if (v->rose[v->links.to[z]] > v->looked[node] && v->links.to[z] != node) return 1;
    return 0;
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

/* Keep a point at a belief if it secures more than is known, in place of another one or as a new one: one that plays
   `planned`, if anything is, or one that reveals nothing until the state is left. */
void points_update(Kernel *k, int state, const double *at, const double *planned, int instead) {
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
        value = value_of_node(k, me);
    }
    if (s->loops && hiding(k, s, belief, value > known ? value : known, plan)) {
        points_planned(k, me, plan);
        linked(k, me, plan, 1);
        value = value_of_node(k, me);
    }
    k->scratch.used = mark;
    if (!(value > known + (instead < 0 ? ENOUGH : AGAIN) * k->missed) || !(value < 1e299)) {
        v->n = n;
        v->links.n = n_links;
        v->n_planned = n_planned;
        v->n_base = n_base;
        return;
    }
    if (instead >= 0) { /* whatever refers to it profits */
        v->plan[instead] = v->plan[me];
        v->link[instead] = v->link[me];
        v->base_at[instead] = v->base_at[me];
        v->answer[instead] = v->answer[me];
        v->looked[instead] = v->looked[me];
        for (int z = v->link[me].at; z < v->link[me].at + v->link[me].n; z++)
            if (v->links.to[z] == instead) v->looked[instead] = 0; /* which leads to itself now */
            else if (v->links.to[z] == me) v->links.to[z] = instead;
        v->n = me;
        me = instead;
    }
    v->worth[me] = value;
    v->whole = v->n;
    points_put(k, me);
}

/* Carry rises through all nodes. */
int points_sweep(Kernel *k, int most) {
    Points *v = &k->points;
    int any = 0;
    for (int sweep = 0; sweep < most; sweep++) {
        double risen = 0;
        for (int n = 0; n < v->whole; n++) {
            k->work += v->link[n].n;
            if (!is_stale(v, n)) continue;
            double value = value_of_node(k, n);
            if (!(value > v->worth[n] + SLIGHT) || !(value < 1e299)) continue;
            if (value - v->worth[n] > risen) risen = value - v->worth[n];
            v->worth[n] = value;
            points_put(k, n);
        }
        any |= risen > 0;
        if (risen < 1e-8) break;
    }
    return any;
}
