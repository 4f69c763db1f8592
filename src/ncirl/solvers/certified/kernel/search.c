/* Where to improve what: walks, trials, and policy improvement of the points. */
#include "kernel.h"
#include "search.h"

#define ENDS 0.04     /* chance that a walk or a trial ends after a stage */
#define LONGEST 40    /* stages of a walk */
#define DEEPEST 60    /* of a trial */
#define FOLLOWED 80   /* stages for which visits are counted */
#define LISTING 1e5    /* work of finding out about visits, beside what is counted */
#define IMPROVED 15   /* points improved in one go */
#define AFRESH 0.5    /* of what might be missed when they were tried: then they are tried again */
#define NEIGHBOUR 0.01 /* of all gaps that a plan leads to: one that is dealt with at once */
#define SLIGHT 1e-9    /* what several points must secure more than one to be drawn from */
#define STAYING 0.3   /* what a gap here counts, where the same state is met again, against one elsewhere */

static double draw(Kernel *k) {
    k->seed ^= k->seed << 13;
    k->seed ^= k->seed >> 7;
    k->seed ^= k->seed << 17;
    return (double)(k->seed >> 11) / 9007199254740992.0;
}

/* Draw one of n by weights that add up to `all`. */
static int drawn(Kernel *k, const double *weights, int n, double all) {
    double left = draw(k) * all;
    int x = 0;
    while (x < n - 1 && (left -= weights[x]) >= 0) x++;
    return x;
}

/* Make a belief of a mass, without intents that are next to impossible; whether there is one. */
static int believed(double *belief, int n) {
    double all = sum(belief, n), kept = 0;
    if (!(all > 1e-12)) return 0;
    for (int t = 0; t < n; t++) {
        belief[t] = belief[t] / all > UNLIKELY ? belief[t] / all : 0;
        kept += belief[t];
    }
    for (int t = 0; t < n; t++) belief[t] /= kept;
    return 1;
}

/* The best point at just this belief; -1 if there is none. */
static int point_at(const Kernel *k, int state, const double *belief) {
    const Shelf *shelf = &k->points.shelf[state];
    int best = -1;
    for (int j = 0; j < shelf->n; j++) {
        int better = best < 0 || shelf->gain[j] > shelf->gain[best];
        for (int t = 0; t < k->n_t && better; t++) better = shelf->coordinate[t][j] == belief[t];
        if (better) best = j;
    }
    return best < 0 ? -1 : shelf->node[best];
}

/* Work out what points secure at a start: the one at just its belief, or several together. */
void look_at(Kernel *k, Root *root) {
    int node = point_at(k, root->state, root->belief);
    double now = hull(k, root->state, root->belief, 0, root->begun, root->begun + 1, root->share);
    if (node >= 0 && !(now > k->points.worth[node] + SLIGHT)) {
        now = k->points.worth[node];
        root->begun[0] = 1;
        root->begun[1] = node;
        root->share[0] = 1;
    }
    if (now > root->low) root->low = now;
}

/* Changes nothing: whoever asks, and how often, the search goes on as it would have. */
void bounds_at(Kernel *k, const Root *root, double *low, double *high) {
    *low = root->low;
    vectors_at(k, &k->vectors.shelf[root->state], k->n_t, k->every, root->belief, high);
}

/* The start whose gap weighs most. */
static const Root *worst_start(Kernel *k) {
    const Root *worst = k->root;
    double most = -1e300, low, high;
    for (int r = 0; r < k->n_roots; r++) {
        look_at(k, &k->root[r]);
        bounds_at(k, &k->root[r], &low, &high);
        if (k->root[r].probability * (high - low) > most) {
            most = k->root[r].probability * (high - low);
            worst = &k->root[r];
        }
    }
    return worst;
}

static int changes_behind(const Kernel *k, const State *s) {
    int n = 0;
    for (int x = 0; x < s->n_s; x++) n += k->vectors.shelf[s->successors[x]].changes;
    return n;
}

/* Optimistic play, drawn as it comes, and home again, improving the vectors alone, at beliefs over extreme intents. */
void walk(Kernel *k) {
    static double path[LONGEST][INTENTS];
    static int at[LONGEST], found_with[LONGEST];
    const Root *root = worst_start(k);
    int n = 0, state = root->state;
    double whole[INTENTS];
    for (int t = 0; t < k->n_t; t++) whole[t] = root->belief[t];
    while (n < LONGEST && !is_late(k)) {
        const State *s = &k->state[state];
        double *belief = path[n];
        for (int e = 0; e < s->n_e; e++) {
            belief[e] = 0;
            for (int t = 0; t < k->n_t; t++) belief[e] += whole[t] * s->spread[t * s->n_e + e];
        }
        if (!believed(belief, s->n_e)) break; /* nobody gets anything any more */
        at[n] = state;
        found_with[n++] = changes_behind(k, s);
        vectors_update(k, nearest(k, k->narrow + state * k->slots, belief), belief);
        size mark = k->scratch.used;
        double *chance = TAKE(k, double, s->n_o), beta[INTENTS], all = 0;
        for (int i = 0; i < s->n_o; i++) {
            posterior(s, i, k->answer.plan, s->n_e, beta);
            chance[i] = sum(beta, s->n_e) * k->answer.reach[i];
            if (!(chance[i] > ACTIVE)) chance[i] = 0;
            all += chance[i];
        }
        int i = drawn(k, chance, s->n_o, all);
        k->scratch.used = mark;
        if (!(all > 0) || draw(k) < ENDS) break;
        posterior(s, i, k->answer.plan, s->n_e, beta);
        if (!believed(beta, s->n_e)) break;
        for (int t = 0; t < k->n_t; t++) whole[t] = 0;
        for (int e = 0; e < s->n_e; e++) whole[s->extreme[e]] = beta[e];
        state = s->leads[i];
    }
    for (int x = n - 1; x >= 0 && !is_late(k); x--)
        if (changes_behind(k, &k->state[at[x]]) > found_with[x])
            vectors_update(k, nearest(k, k->narrow + at[x] * k->slots, path[x]), path[x]);
}

static void back_up(Kernel *k, int state, const double *belief) {
    Program *p = nearest(k, k->below + state * k->slots, belief);
    program_at(k, p, belief);
    points_update(k, state, belief, k->answer.plan, point_at(k, state, belief));
}

/* The optimistic plan to where the bounds are apart, drawn by how far, and home again, improving both. */
void trial(Kernel *k) {
    static double path[DEEPEST][INTENTS];
    static int at[DEEPEST];
    const Root *root = worst_start(k);
    int n = 0, state = root->state, n_t = k->n_t;
    for (int t = 0; t < n_t; t++) path[0][t] = root->belief[t];
    while (!is_late(k)) {
        const State *s = &k->state[state];
        double *belief = path[n], beta[INTENTS], all = 0, high;
        size mark = k->scratch.used;
        double *plan = TAKE(k, double, s->n_a * n_t), *reach = TAKE(k, double, s->n_o), *score = TAKE(k, double, s->n_o);
        at[n++] = state;
        vectors_update(k, nearest(k, k->above + state * k->slots, belief), belief);
        for (int z = 0; z < s->n_a * n_t; z++) plan[z] = k->answer.plan[z];
        for (int i = 0; i < s->n_o; i++) reach[i] = k->answer.reach[i];
        back_up(k, state, belief);
        for (int i = 0; i < s->n_o; i++) {
            double often = reach[i] > k->answer.reach[i] ? reach[i] : k->answer.reach[i];
            score[i] = 0;
            posterior(s, i, plan, n_t, beta);
            if (!(sum(beta, n_t) > ACTIVE) || !(often > ACTIVE)) continue;
            vectors_at(k, &k->vectors.shelf[s->leads[i]], n_t, k->every, beta, &high);
            score[i] = often * (high - hull(k, s->leads[i], beta, 0, 0, 0, 0));
            if (!(score[i] > 0)) score[i] = 0;
            all += score[i];
        }
        for (int i = 0; i < s->n_o && !is_late(k); i++) { /* what reveals nothing takes no program */
            if (!(score[i] > NEIGHBOUR * all)) continue;
            posterior(s, i, plan, n_t, beta);
            if (believed(beta, n_t) && k->state[s->leads[i]].loops && point_at(k, s->leads[i], beta) < 0)
                points_update(k, s->leads[i], beta, 0, -1);
        }
        int i = drawn(k, score, s->n_o, all), over = !(all > 0) || draw(k) < ENDS || n == DEEPEST;
        if (!over) posterior(s, i, plan, n_t, path[n]);
        k->scratch.used = mark;
        if (over || !believed(path[n], n_t)) break;
        state = s->leads[i];
    }
    for (int x = n - 1; x >= 0 && !is_late(k); x--) back_up(k, at[x], path[x]);
}

/* The observation after which a plan lacks most, as the answer has it; -1 if none. */
static int most_wanted(Kernel *k, const State *s) {
    double most = 0, high, beta[INTENTS];
    int best = -1;
    for (int i = 0; i < s->n_o; i++) {
        posterior(s, i, k->answer.plan, k->n_t, beta);
        if (!(k->answer.reach[i] > ACTIVE) || !(sum(beta, k->n_t) > ACTIVE)) continue;
        vectors_at(k, &k->vectors.shelf[s->leads[i]], k->n_t, k->every, beta, &high);
        double lacks = k->answer.reach[i] * (high - hull(k, s->leads[i], beta, 0, 0, 0, 0));
        if (s->leads[i] == s->number) lacks *= STAYING;
        if (lacks > most) {
            most = lacks;
            best = i;
        }
    }
    return best;
}

/* Improve a point, then the one that its plan wants most, by the plan's own prices, then the point again. */
static void improve_point(Kernel *k, int node) {
    const State *s = &k->state[k->points.state[node]];
    double belief[INTENTS], prices[INTENTS];
    for (int t = 0; t < k->n_t; t++) belief[t] = k->points.belief[(size)node * k->n_t + t];
    back_up(k, s->number, belief);
    int i = most_wanted(k, s);
    if (i < 0) return;
    for (int t = 0; t < k->n_t; t++) prices[t] = k->answer.promised[i * k->n_t + t];
    Program *p = &k->anywhere[s->leads[i]];
    program_for(k, p, prices);
    double wanted[INTENTS];
    for (int t = 0; t < k->n_t; t++) {
        wanted[t] = 0;
        for (int a = 0; a < k->state[s->leads[i]].n_a; a++) wanted[t] += k->answer.plan[a * k->n_t + t];
    }
    if (!believed(wanted, k->n_t)) return;
    for (int t = 0; t < k->n_t; t++) p->belief[t] = wanted[t];
    points_update(k, s->leads[i], wanted, k->answer.plan, point_at(k, s->leads[i], wanted));
    back_up(k, s->number, belief);
}

/* How often points have risen where a state leads to. */
static int news_behind(const Kernel *k, const State *s) {
    int n = 0;
    for (int x = 0; x < s->n_s; x++) n += k->points.shelf[s->successors[x]].n_news;
    return n;
}

/* Policy improvement of the attacker's controller: of the points that the defender's best answer meets most, but for those
   of which nothing else can come. */
int improve(Kernel *k) {
    Points *v = &k->points;
    const Root *root = worst_start(k);
    int n = v->n, improved = 0;
    double *flow = NEW(double, n), *next = NEW(double, n), *met = NEW(double, n);
    int rose = points_sweep(k, 1);
    for (int y = 0; y < root->begun[0]; y++) flow[root->begun[1 + y]] = root->share[y];
    for (int stage = 0; stage < FOLLOWED; stage++) {
        double all = 0;
        for (int m = 0; m < n; m++) next[m] = 0;
        for (int m = 0; m < n; m++) {
            if (!(flow[m] > 1e-7)) continue;
            const State *s = &k->state[v->state[m]];
            met[m] += flow[m];
            all += flow[m];
            for (int z = v->link[m].at; z < v->link[m].at + v->link[m].n; z++)
                next[v->links.to[z]] +=
                    flow[m] * k->discount * weight(s, v->links.observation[z], v->answer[m]) * v->links.share[z];
        }
        double *other = flow;
        flow = next;
        next = other;
        if (all < 1e-4) break;
    }
    k->work += (double)FOLLOWED * n + LISTING;
    if (k->missed < AFRESH * k->tried_with) {
        k->tried_with = k->missed;
        for (int m = 0; m < n; m++) v->tried[m] = -1;
    }
    int *some = NEW(int, n), n_some = 0;
    for (int m = 0; m < n; m++)
        if (met[m] > 1e-4 && v->tried[m] != news_behind(k, &k->state[v->state[m]])) some[n_some++] = m;
    for (; improved < IMPROVED && n_some && !is_late(k); improved++) {
        int best = 0;
        for (int x = 1; x < n_some; x++)
            if (met[some[x]] > met[some[best]]) best = x;
        int m = some[best];
        some[best] = some[--n_some];
        k->work += n_some;
        v->tried[m] = news_behind(k, &k->state[v->state[m]]);
        improve_point(k, m);
    }
    FREE(some, n);
    FREE(flow, n);
    FREE(next, n);
    FREE(met, n);
    return points_sweep(k, 60) || rose || improved;
}
