/* The defender's controller: α_n(m) = max_a Σ_d D_n(d) r(a,d,m) + γ Σ_i mass[i,a] (weight[i]·D_n) Σ_j p_ij α_j(m), for each
   member m; what is compared is α_n(θ) = Σ_m odds(m) α_n(m) over the members of θ. */
#include "kernel.h"

#define BLOCK 256
#define NEGLIGIBLE 1e-7 /* of what follows an observation */

void links_add(Links *links, int observation, int to, double share) {
    if (links->n == links->room) {
        int had = links->room, room = 2 * had + 1024;
        MORE(links->observation, had, room);
        MORE(links->to, had, room);
        MORE(links->share, had, room);
        links->room = room;
    }
    links->observation[links->n] = observation;
    links->to[links->n] = to;
    links->share[links->n++] = share;
}

int vectors_new(Kernel *k, int state) {
    Vectors *v = &k->vectors;
    if (v->n == v->room) {
        int had = v->room, room = 2 * had + 256;
        MORE(v->state, had, room);
        MORE(v->place, had, room);
        MORE(v->heir, had, room);
        MORE(v->mix, had, room);
        MORE(v->link, had, room);
        MORE(v->rest_at, had, room);
        MORE(v->worth, had * k->n_m, room * k->n_m);
        v->room = room;
    }
    int me = v->n++;
    v->state[me] = state;
    v->place[me] = v->heir[me] = -1;
    v->mix[me] = (Span){v->n_mixed, 0};
    v->link[me] = (Span){v->links.n, 0};
    v->rest_at[me] = v->n_rest;
    for (int m = 0; m < k->n_m; m++) v->worth[(size)me * k->n_m + m] = 1e300;
    return me;
}

void vectors_mix(Vectors *v, int me, int defence, double chance) {
    if (v->n_mixed == v->mixed_room) {
        int had = v->mixed_room, room = 2 * had + 1024;
        MORE(v->defence, had, room);
        MORE(v->chance, had, room);
        v->mixed_room = room;
    }
    v->defence[v->n_mixed] = defence;
    v->chance[v->n_mixed++] = chance;
    v->mix[me].n++;
}

void vectors_rest(Vectors *v, int node) {
    if (v->n_rest == v->rest_room) {
        int had = v->rest_room, room = 2 * had + 1024;
        MORE(v->rest, had, room);
        v->rest_room = room;
    }
    v->rest[v->n_rest++] = node;
}

/* What a node concedes to every intent: to its members on average. */
static void on_average(const Kernel *k, int node, double *conceded) {
    const double *worth = k->vectors.worth + (size)node * k->n_m;
    for (int t = 0; t < k->n_t; t++) conceded[t] = 0;
    for (int m = 0; m < k->n_m; m++) conceded[k->stands[m]] += k->odds[m] * worth[m];
}

static int nowhere_lower(const Kernel *k, int node, int other) {
    const double *mine = k->vectors.worth + (size)node * k->n_m, *its = k->vectors.worth + (size)other * k->n_m;
    int m = 0;
    while (m < k->n_m && mine[m] >= its[m]) m++;
    return m == k->n_m;
}

/* Put a vector on the shelf of its state, in place of those that are nowhere lower. */
void vectors_put(Kernel *k, int node) {
    Vectors *v = &k->vectors;
    Shelf *shelf = &v->shelf[v->state[node]];
    double worth[INTENTS];
    on_average(k, node, worth);
    for (int j = shelf->n - 1; j >= 0; j--) {
        int worse = 1;
        for (int t = 0; t < k->n_t && worse; t++) worse = shelf->coordinate[t][j] >= worth[t];
        if (!worse || (k->n_m > k->n_t && !nowhere_lower(k, shelf->node[j], node))) continue;
        v->heir[shelf->node[j]] = node; /* whatever leads there leads here from now on */
        shelf_drop(shelf, k->n_t, j, v->place);
    }
    shelf_add(shelf, k->n_t, node, worth, v->place);
    k->work += (double)shelf->n * 2;
}

/* min_j α_j·β over the places [0, end) for some masses at once */
static void scan(Kernel *k, const Shelf *shelf, int end, int n_t, const int *intents, int n, const double *beta,
                 double *least, int *which) {
    double at[BLOCK];
    k->work += (double)n * n_t * end;
    for (int b = 0; b < n; b++) least[b] = 1e300;
    for (int j0 = 0; j0 < end; j0 += BLOCK) {
        int len = end - j0 < BLOCK ? end - j0 : BLOCK;
        for (int b = 0; b < n; b++) {
            const double *m = beta + b * n_t, *restrict c = shelf->coordinate[intents[0]] + j0;
            for (int j = 0; j < len; j++) at[j] = m[0] * c[j];
            for (int t = 1; t < n_t; t++) {
                double f = m[t];
                if (f == 0) continue;
                c = shelf->coordinate[intents[t]] + j0;
                for (int j = 0; j < len; j++) at[j] += f * c[j];
            }
            double low = at[0];
            for (int j = 1; j < len; j++) low = at[j] < low ? at[j] : low;
            if (low < least[b]) {
                int j = 0;
                while (at[j] != low) j++;
                least[b] = low;
                which[b] = j0 + j;
            }
        }
    }
}

int vectors_at(Kernel *k, const Shelf *shelf, int n_t, const int *intents, const double *mass_, double *value) {
    int which = 0;
    scan(k, shelf, shelf->n, n_t, intents, 1, mass_, value, &which);
    return which;
}

/* Add planes to a program where its values exceed what is known: first as the vectors in front have it, then as all. */
int vectors_missed(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = p->n_t, added = 0;
    size mark = k->scratch.used;
    int *those = TAKE(k, int, s->n_o), *which = TAKE(k, int, s->n_o);
    double *beta = TAKE(k, double, s->n_o * n_t), *least = TAKE(k, double, s->n_o);
    for (int all = 0; all < 2 && !added; all++)
        for (int x = 0; x < s->n_s; x++) {
            Shelf *shelf = &k->vectors.shelf[s->successors[x]];
            int n = 0, end = all || shelf->n < 2 * FRONT ? shelf->n : FRONT;
            if (all && shelf->n < 2 * FRONT) continue;
            for (int i = 0; i < s->n_o; i++)
                if (s->toward[i] == x && p->some[i] >= 0) {
                    posterior(s, i, k->answer.plan, n_t, beta + n * n_t);
                    if (sum(beta + n * n_t, n_t) > ACTIVE) those[n++] = i;
                }
            scan(k, shelf, end, n_t, p->intents, n, beta, least, which);
            for (int y = 0; y < n; y++) {
                if (!(program_value(p, those[y], beta + y * n_t) > least[y] + k->missed)) continue;
                double plane[INTENTS];
                for (int t = 0; t < n_t; t++) plane[t] = shelf->coordinate[p->intents[t]][which[y]];
                program_plane(p, those[y], plane, shelf->node[which[y]]);
                added++;
            }
            for (int y = 0; y < n; y++) /* afterwards: places change */
                if (all && program_value(p, those[y], beta + y * n_t) > least[y] + k->missed && which[y] < shelf->n)
                    shelf_front(shelf, k->n_t, which[y], k->vectors.place);
        }
    k->scratch.used = mark;
    return added;
}

/* The node that stands in for one now. */
static int heir(const Vectors *v, int node) {
    while (v->heir[node] >= 0) node = v->heir[node];
    return node;
}

/* Work out what a node concedes to every member with what its successors concede now; return how far it fell.

   A node that leads to itself concedes x(a) + y(a) α(θ) to action a, so that α(θ) = max_a x(a) / (1 - y(a)). */
double vectors_evaluate(Kernel *k, int node) {
    Vectors *v = &k->vectors;
    const State *s = &k->state[v->state[node]];
    int n_m = k->n_m;
    Span mix = v->mix[node], link = v->link[node];
    int *rest = v->rest + v->rest_at[node];
    for (int x = 0; x < s->n_s; x++) rest[x] = heir(v, rest[x]);
    size mark = k->scratch.used;
    double *gets = TAKE(k, double, s->n_a * n_m), *stay = TAKE(k, double, s->n_a);
    double *follows = TAKE(k, double, s->n_o * n_m), *itself = TAKE(k, double, s->n_o);
    byte *linked = TAKE(k, byte, s->n_o);
    for (int a = 0; a < s->n_a; a++) {
        stay[a] = 0;
        for (int m = 0; m < n_m; m++) gets[a * n_m + m] = 0;
        for (int x = mix.at; x < mix.at + mix.n; x++) {
            const double *r = s->to_members + (a * s->n_d + v->defence[x]) * n_m;
            for (int m = 0; m < n_m; m++) gets[a * n_m + m] += v->chance[x] * r[m];
        }
    }
    for (int i = 0; i < s->n_o; i++) linked[i] = 0;
    for (int x = link.at; x < link.at + link.n; x++) {
        int i = v->links.observation[x], to = v->links.to[x] = heir(v, v->links.to[x]);
        double share = v->links.share[x];
        if (!linked[i]) {
            linked[i] = 1;
            itself[i] = 0;
            for (int m = 0; m < n_m; m++) follows[i * n_m + m] = 0;
        }
        if (to == node) itself[i] += share;
        else
            for (int m = 0; m < n_m; m++) follows[i * n_m + m] += share * v->worth[(size)to * n_m + m];
    }
    for (int i = 0; i < s->n_o; i++) {
        double reach = 0;
        for (int x = mix.at; x < mix.at + mix.n; x++) reach += v->chance[x] * weight(s, i, v->defence[x]);
        if (!(reach > 0)) continue;
        int to = rest[s->toward[i]];
        const double *then = linked[i] ? follows + i * n_m : v->worth + (size)to * n_m;
        double again = linked[i] ? itself[i] : to == node;
        if (!linked[i] && to == node) again = 1, then = 0;
        for (int a = s->by_action ? s->owner[i] : 0; a < (s->by_action ? s->owner[i] + 1 : s->n_a); a++) {
            double chance = k->discount * reach * mass(s, i, a);
            stay[a] += chance * again;
            for (int m = 0; m < n_m && then && chance > 0; m++) gets[a * n_m + m] += chance * then[m];
        }
    }
    double fell = 0, *worth = v->worth + (size)node * n_m;
    for (int m = 0; m < n_m; m++) {
        double most = -1e300;
        for (int a = 0; a < s->n_a; a++) {
            double now = gets[a * n_m + m] / (1 - stay[a]);
            if (now > most) most = now;
        }
        if (most < worth[m] && most > -1e299) {
            if (worth[m] - most > fell) fell = worth[m] - most;
            worth[m] = most;
        }
    }
    k->scratch.used = mark;
    k->work += (double)s->n_a * n_m * mix.n + (double)(s->n_o + link.n) * n_m;
    return fell;
}

/* Carry on what nodes lead to now through all of them. */
void vectors_sweep(Kernel *k, int most) {
    Vectors *v = &k->vectors;
    for (int sweep = 0; sweep < most; sweep++) {
        double fell = 0;
        for (int n = 0; n < v->whole; n++) {
            if (v->heir[n] >= 0) continue;
            double by = vectors_evaluate(k, n);
            if (by > fell) fell = by;
            if (!(by > 0) || v->place[n] < 0) continue;
            Shelf *shelf = &v->shelf[v->state[n]];
            double worth[INTENTS];
            on_average(k, n, worth);
            for (int t = 0; t < k->n_t; t++) shelf->coordinate[t][v->place[n]] = worth[t];
            shelf->changes++;
        }
        if (fell < k->missed) break;
    }
}

static double worth_at(Kernel *k, int node, const Program *p, const double *belief) {
    double value = 0, worth[INTENTS];
    on_average(k, node, worth);
    for (int t = 0; t < p->n_t; t++) value += belief[t] * worth[p->intents[t]];
    return value;
}

/* Make a node of what the multipliers of a program say: its planes' prices are the chances of what follows. */
static int from_program(Kernel *k, const Program *p) {
    const State *s = p->here;
    Vectors *v = &k->vectors;
    int me = vectors_new(k, s->number);
    size mark = k->scratch.used;
    double *total = TAKE(k, double, s->n_o);
    for (int x = 0; x < k->answer.n_mixed; x++) vectors_mix(v, me, k->answer.defence[x], k->answer.chance[x]);
    for (int x = 0; x < s->n_s; x++) vectors_rest(v, p->stand_in_node[x]);
    for (int pass = 0; pass < 2; pass++) { /* first what all come to, then those that count in it */
        double *kept = TAKE(k, double, s->n_o);
        for (int i = 0; i < s->n_o; i++) kept[i] = 0;
        for (int c = 0; c < p->n_planes; c++) {
            int i = p->plane_of[c];
            double price = price_of(&p->t, p->plane_slack[c]);
            if (price > ACTIVE && k->answer.reach[i] > 0 && (!pass || price > NEGLIGIBLE * total[i])) kept[i] += price;
        }
        if (pass)
            for (int c = 0; c < p->n_planes; c++) {
                int i = p->plane_of[c];
                double price = price_of(&p->t, p->plane_slack[c]);
                if (price > ACTIVE && k->answer.reach[i] > 0 && price > NEGLIGIBLE * total[i]) {
                    links_add(&v->links, i, p->plane_node[c], price / kept[i]);
                    v->link[me].n++;
                }
            }
        for (int i = 0; i < s->n_o; i++) total[i] = kept[i];
    }
    k->scratch.used = mark;
    vectors_evaluate(k, me);
    return me;
}

/* The same, but kept at until the state is left. */
static int keeping_at_it(Kernel *k, int node) {
    Vectors *v = &k->vectors;
    const State *s = &k->state[v->state[node]];
    int me = vectors_new(k, s->number);
    v->mix[me] = v->mix[node];
    for (int x = 0; x < s->n_s; x++) vectors_rest(v, s->successors[x] == s->number ? me : v->rest[v->rest_at[node] + x]);
    for (int x = v->link[node].at; x < v->link[node].at + v->link[node].n; x++)
        if (s->leads[v->links.observation[x]] != s->number) {
            links_add(&v->links, v->links.observation[x], v->links.to[x], v->links.share[x]);
            v->link[me].n++;
        }
    vectors_evaluate(k, me);
    return me;
}

/* Let a node be another, which is given up. */
static void become(Kernel *k, int me, int other) {
    Vectors *v = &k->vectors;
    int n_s = k->state[v->state[me]].n_s;
    v->link[me] = v->link[other];
    v->rest_at[me] = v->rest_at[other];
    for (int x = 0; x < n_s; x++)
        if (v->rest[v->rest_at[me] + x] == other) v->rest[v->rest_at[me] + x] = me;
    for (int m = 0; m < k->n_m; m++) v->worth[(size)me * k->n_m + m] = v->worth[(size)other * k->n_m + m];
}

/* Solve a program at a belief and keep the vector that comes of it, where it is lower than what is known. */
void vectors_update(Kernel *k, Program *p, const double *belief) {
    Vectors *v = &k->vectors;
    const State *s = p->here;
    program_at(k, p, belief);
    if (!k->answer.n_mixed) return;
    int n = v->n, n_mixed = v->n_mixed, n_rest = v->n_rest, n_links = v->links.n;
    double known;
    vectors_at(k, &v->shelf[s->number], p->n_t, p->intents, belief, &known);
    int me = from_program(k, p);
    if (s->loops) {
        int other = keeping_at_it(k, me);
        if (worth_at(k, other, p, belief) < worth_at(k, me, p, belief)) become(k, me, other);
        v->n = other;
    }
    if (worth_at(k, me, p, belief) < known - k->missed) {
        v->whole = v->n;
        vectors_put(k, me);
    } else {
        v->n = n;
        v->n_mixed = n_mixed;
        v->n_rest = n_rest;
        v->links.n = n_links;
    }
}
