/* What the host calls. Tables of addresses and numbers are read and written as 32-bit words, in the order given here, as
   `machine.py` and `node_tables.py` have it. */
#include "kernel.h"
#include "search.h"

#define EXPORT(name) __attribute__((export_name(#name)))

#define SWEEPS 3  /* of vectors */
#define RISES 300 /* of points, of which few rise */

typedef unsigned int word;

static Kernel kernel;

EXPORT(take) void *take(int bytes) { return memory_new((size)bytes); }
EXPORT(give_back) void give_back(void *old, int bytes) { memory_free(old, (size)bytes); }

/* `stands` and `odds` are of the members of the intents. */
EXPORT(begin) void begin(int n_states, int n_t, double discount, int slots, int scratch, int n_m, int *stands, double *odds) {
    Kernel *k = &kernel;
    k->n_states = n_states;
    k->n_t = n_t;
    k->n_m = n_m;
    k->stands = stands;
    k->odds = odds;
    k->discount = discount;
    k->slots = slots;
    k->seed = 88172645463325252ull;
    k->tried_with = 1e300;
    for (int t = 0; t < n_t; t++) k->every[t] = t;
    k->state = NEW(State, n_states);
    k->vectors.shelf = NEW(Shelf, n_states);
    k->points.shelf = NEW(Shelf, n_states);
    k->points.corner = NEW(double, n_states * n_t);
    k->points.bases = NEW(Basis *, n_states);
    k->points.last = NEW(unsigned, n_states);
    k->narrow = NEW(Program, n_states * slots);
    k->above = NEW(Program, n_states * slots);
    k->below = NEW(Program, n_states * slots);
    k->anywhere = NEW(Program, n_states);
    k->scratch = (Scratch){memory_new((size)scratch), 0, (size)scratch};
}

/* number, n_a, n_d, n_o, by_action, n_e, and where owner, leads, table, reward, may_defend, may_attack, extreme, spread,
   the corners and what members get are */
EXPORT(state) void state(const word *from) {
    Kernel *k = &kernel;
    State *s = &k->state[from[0]];
    s->number = from[0];
    s->n_a = from[1];
    s->n_d = from[2];
    s->n_o = from[3];
    s->by_action = from[4];
    s->n_e = from[5];
    s->owner = (int *)from[6];
    s->leads = (int *)from[7];
    s->table = (double *)from[8];
    s->reward = (double *)from[9];
    s->may_defend = (byte *)from[10];
    s->may_attack = (byte *)from[11];
    s->extreme = (int *)from[12];
    s->spread = (double *)from[13];
    for (int t = 0; t < k->n_t; t++) k->points.corner[s->number * k->n_t + t] = ((double *)from[14])[t];
    s->to_members = (double *)from[15];
    int owners = s->by_action ? s->n_a : s->n_d;
    s->first = NEW(int, owners + 1);
    for (int i = 0; i < s->n_o; i++) s->first[s->owner[i] + 1]++;
    for (int o = 0; o < owners; o++) s->first[o + 1] += s->first[o];
    s->toward = NEW(int, s->n_o);
    s->successors = NEW(int, s->n_o);
    for (int t = 0; t < k->n_states; t++) { /* in order of their numbers */
        int any = 0;
        for (int i = 0; i < s->n_o; i++)
            if (s->leads[i] == t) {
                s->toward[i] = s->n_s;
                any = 1;
            }
        if (any) s->successors[s->n_s++] = t;
        if (any && t == s->number) s->loops = 1;
    }
}

/* Call it once all states are known. */
EXPORT(states_known) void states_known(void) {
    Kernel *k = &kernel;
    int actions = 0, defences = 0, observations = 0, n_t = k->n_t;
    for (int x = 0; x < k->n_states; x++) {
        State *s = &k->state[x];
        s->gain = NEW(double, s->n_a * s->n_d * n_t);
        for (int z = 0; z < s->n_a * s->n_d * n_t; z++) s->gain[z] = s->reward[z];
        for (int i = 0; i < s->n_o; i++)
            for (int a = 0; a < s->n_a; a++)
                for (int d = 0; d < s->n_d; d++) {
                    double chance = k->discount * mass(s, i, a) * weight(s, i, d);
                    for (int t = 0; t < n_t && chance > 0; t++)
                        s->gain[(a * s->n_d + d) * n_t + t] += chance * k->points.corner[s->leads[i] * n_t + t];
                }
        for (int slot = 0; slot < k->slots; slot++) {
            program_make(&k->narrow[x * k->slots + slot], s, ABOVE, s->n_e, s->extreme, 0);
            program_make(&k->above[x * k->slots + slot], s, ABOVE, n_t, k->every, 0);
            program_make(&k->below[x * k->slots + slot], s, BELOW, n_t, k->every, 0);
        }
        program_make(&k->anywhere[x], s, BELOW, n_t, k->every, 1);
        if (s->n_a > actions) actions = s->n_a;
        if (s->n_d > defences) defences = s->n_d;
        if (s->n_o > observations) observations = s->n_o;
    }
    k->answer.plan = NEW(double, actions * n_t);
    k->answer.reach = NEW(double, observations);
    k->answer.promised = NEW(double, observations * n_t);
    k->answer.chance = NEW(double, defences);
    k->answer.defence = NEW(int, defences);
}

static void likely(Program *p, int n_a, const int *actions, int n_d, const int *defences) {
    p->n_likely_actions = n_a;
    p->n_likely_defences = n_d;
    for (int x = 0; x < n_a; x++) p->likely_actions[x] = actions[x];
    for (int x = 0; x < n_d; x++) p->likely_defences[x] = defences[x];
}

/* What programs of a state begin with: at least one of each. */
EXPORT(begin_with) void begin_with(int x, int n_a, const int *actions, int n_d, const int *defences) {
    Kernel *k = &kernel;
    for (int slot = 0; slot < k->slots; slot++) {
        likely(&k->narrow[x * k->slots + slot], n_a, actions, n_d, defences);
        likely(&k->above[x * k->slots + slot], n_a, actions, n_d, defences);
        likely(&k->below[x * k->slots + slot], n_a, actions, n_d, defences);
    }
    likely(&k->anywhere[x], n_a, actions, n_d, defences);
}

/* Work out what is secured at the starts by now. */
static void look(Kernel *k) {
    for (int r = 0; r < k->n_roots; r++) look_at(k, &k->root[r]);
}

EXPORT(starts) void starts(int n, const int *states, const double *probability, const double *belief) {
    Kernel *k = &kernel;
    k->n_roots = n;
    k->root = NEW(Root, n);
    for (int r = 0; r < n; r++) {
        k->root[r].state = states[r];
        k->root[r].probability = probability[r];
        k->root[r].low = -1e300;
        for (int t = 0; t < k->n_t; t++) k->root[r].belief[t] = belief[r * k->n_t + t];
    }
    look(k);
}

/* Forget nodes that were not complete when a trap cut what made them: nothing leads to them. */
static void forget_parts(Kernel *k) {
    k->vectors.n = k->vectors.whole;
    k->points.n = k->points.whole;
}

/* Add nodes, compared once all are there: where their states, numbers of what they play and of links, whether they are compared, what they play, their
   links (observation, node, share) and worths are, each after each; then what kinds of nodes have of their own. */
EXPORT(add_vectors) void add_vectors(int n, const word *from) { /* chances, numbers of rests (as many as successors), rests */
    Kernel *k = &kernel;
    Vectors *v = &k->vectors;
    const int *states = (int *)from[0], *n_played = (int *)from[1], *n_links = (int *)from[2], *kept = (int *)from[3];
    const int *played = (int *)from[4], *observation = (int *)from[5], *to = (int *)from[6], *rest = (int *)from[11];
    const double *share = (double *)from[7], *worth = (double *)from[8], *chance = (double *)from[9];
    forget_parts(k);
    for (int x = 0; x < n; x++) {
        int me = vectors_new(k, states[x]);
        for (int y = 0; y < n_played[x]; y++) vectors_mix(v, me, *played++, *chance++);
        for (int y = 0; y < n_links[x]; y++) links_add(&v->links, *observation++, *to++, *share++);
        v->link[me].n = n_links[x];
        for (int y = 0; y < k->state[states[x]].n_s; y++) vectors_rest(v, *rest++);
        for (int m = 0; m < k->n_m; m++) v->worth[(size)me * k->n_m + m] = *worth++;
    }
    int first = v->n - n;
    v->whole = v->n;
    for (int x = 0; x < n; x++)
        if (kept[x]) vectors_put(k, first + x);
}

EXPORT(add_points) void add_points(int n, const word *from) { /* masses, beliefs */
    Kernel *k = &kernel;
    Points *v = &k->points;
    const int *states = (int *)from[0], *n_played = (int *)from[1], *n_links = (int *)from[2], *kept = (int *)from[3];
    const int *played = (int *)from[4], *observation = (int *)from[5], *to = (int *)from[6];
    const double *share = (double *)from[7], *worth = (double *)from[8], *mass_ = (double *)from[9];
    const double *belief = (double *)from[10];
    forget_parts(k);
    for (int x = 0; x < n; x++) {
        int me = points_new(k, states[x], belief + (size)x * k->n_t), entries = k->state[states[x]].n_a * k->n_t;
        double *plan = NEW(double, entries);
        for (int y = 0; y < n_played[x]; y++, played++)
            for (int t = 0; t < k->n_t; t++) plan[*played * k->n_t + t] = *mass_++;
        points_planned(k, me, plan);
        FREE(plan, entries);
        for (int y = 0; y < n_links[x]; y++) links_add(&v->links, *observation++, *to++, *share++);
        v->link[me].n = n_links[x];
        v->worth[me] = worth[x];
    }
    int first = v->n - n;
    v->whole = v->n;
    for (int x = 0; x < n; x++)
        if (kept[x]) points_put(k, first + x);
    look(k);
}

/* Do one thing or another for some work, and no more than `most`; programs may leave out what is missed by `missed`. */
EXPORT(run) double run(int what, double work, double most, double missed) {
    Kernel *k = &kernel;
    double before = k->work;
    k->scratch.used = 0; /* also after what was cut by a trap */
    forget_parts(k);
    k->until = before + most;
    k->missed = missed;
    while (k->work < before + work) {
        double then = k->work;
        if (what == 0) walk(k);
        else if (what == 1) trial(k);
        else if (!improve(k)) k->work = then;
        if (!(k->work > then)) break; /* there is nowhere to go */
    }
    double done = k->work - before;
    look(k);
    return done;
}

/* Work out what nodes are worth by now. While it goes on this is not worth its time: nothing changes by much. */
EXPORT(sweep) void sweep(void) {
    kernel.scratch.used = 0;
    forget_parts(&kernel);
    vectors_sweep(&kernel, SWEEPS);
    points_sweep(&kernel, RISES);
    look(&kernel);
}

EXPORT(draw_from) void draw_from(int seed) { kernel.seed ^= (unsigned long long)seed * 0x9E3779B97F4A7C15ull; }

/* Lower and upper bound at each start. */
EXPORT(bounds) void bounds(double *into) {
    for (int r = 0; r < kernel.n_roots; r++) bounds_at(&kernel, &kernel.root[r], &into[2 * r], &into[2 * r + 1]);
}

/* How many points are drawn from at a start, and which: where that is written. */
EXPORT(begun_with) int *begun_with(int r) { return kernel.root[r].begun; }

EXPORT(count_vectors) int count_vectors(void) { return kernel.vectors.n; }
EXPORT(count_points) int count_points(void) { return kernel.points.n; }

EXPORT(new_solves) int new_solves(void) { /* since the last time */
    int n = kernel.solves;
    kernel.solves = 0;
    return n;
}

/* Where nodes are: n, states, places, spans of what they play and of their links, worths; what they play, with which
   chance or mass; links. Then the defender's rests and where each node's begin, and the attacker's beliefs. */
static void tell(word *into, const word *table, int n) {
    for (int x = 0; x < n; x++) into[x] = table[x];
}

EXPORT(vectors_table) void vectors_table(word *into) {
    const Vectors *v = &kernel.vectors;
    word table[] = {v->whole, (word)v->state, (word)v->place, (word)v->mix, (word)v->link, (word)v->worth, (word)v->defence,
                    (word)v->chance, v->n_mixed, (word)v->links.observation, (word)v->links.to, (word)v->links.share,
                    v->links.n, (word)v->rest_at, (word)v->rest, v->n_rest};
    tell(into, table, sizeof table / sizeof *table);
}

EXPORT(points_table) void points_table(word *into) {
    const Points *v = &kernel.points;
    word table[] = {v->whole, (word)v->state, (word)v->place, (word)v->plan, (word)v->link, (word)v->worth, (word)v->action,
                    (word)v->mass, v->n_planned, (word)v->links.observation, (word)v->links.to, (word)v->links.share,
                    v->links.n, (word)v->belief};
    tell(into, table, sizeof table / sizeof *table);
}
