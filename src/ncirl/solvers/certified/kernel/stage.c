/* Solving P_A: what is missed enters, a plane, a defence or an action at a time, until nothing is. */
#include "kernel.h"

#define RESTART 4000 /* pivots after which rounding errors are left behind */
#define ROUNDS 200
#define ROUND 1e4    /* work of a round beside what is counted */
#define RISEN 0.3    /* of what may be missed: what a plane may lie below points */

/* Read the plan, the mixed defence and the prices of what follows off the program. */
static void read_answer(Kernel *k, Program *p) {
    const State *s = p->here;
    Answer *found = &k->answer;
    int n_t = p->n_t;
    double all = 0, *worth = found->promised;
    for (int z = 0; z < s->n_a * n_t; z++) found->plan[z] = 0;
    for (int x = 0; x < p->n_actions; x++)
        for (int t = 0; t < n_t; t++) {
            double v = value_of(&p->t, p->plan[p->action[x] * n_t + t]);
            found->plan[p->action[x] * n_t + t] = v > 0 ? v : 0;
        }
    found->n_mixed = 0;
    for (int x = 0; x < p->n_defences; x++) {
        double v = price_of(&p->t, p->defence_slack[x]);
        if (v > ACTIVE) {
            found->defence[found->n_mixed] = p->defence[x];
            found->chance[found->n_mixed++] = v;
            all += v;
        }
    }
    for (int x = 0; x < found->n_mixed; x++) found->chance[x] /= all;
    double *total = NEW(double, s->n_o);
    for (int i = 0; i < s->n_o; i++) {
        found->reach[i] = 0;
        for (int x = 0; x < found->n_mixed; x++) found->reach[i] += found->chance[x] * weight(s, i, found->defence[x]);
        for (int t = 0; t < n_t; t++) worth[i * n_t + t] = 0;
    }
    for (int c = 0; c < p->n_planes; c++) {
        double v = price_of(&p->t, p->plane_slack[c]);
        if (v > ACTIVE) {
            total[p->plane_of[c]] += v;
            for (int t = 0; t < n_t; t++) worth[p->plane_of[c] * n_t + t] += v * p->plane[c * n_t + t];
        }
    }
    for (int i = 0; i < s->n_o; i++)
        for (int t = 0; t < n_t; t++) {
            if (total[i] > 0) worth[i * n_t + t] /= total[i];
            else worth[i * n_t + t] = p->stand_in[s->toward[i] * n_t + t];
        }
    FREE(total, s->n_o);
}

/* Add the defence that would pay least, if it would pay less. */
static int missed_defence(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = p->n_t, which = -1;
    size mark = k->scratch.used;
    double least = k->missed, value = value_of(&p->t, p->value), *plan = k->answer.plan, *known = TAKE(k, double, s->n_o);
    for (int i = 0; i < s->n_o; i++) { /* what follows, as the program has it */
        double beta[INTENTS];
        if (p->some[i] >= 0) posterior(s, i, plan, n_t, beta);
        known[i] = p->some[i] >= 0 ? program_value(p, i, beta) : 0;
    }
    for (int d = 0; d < s->n_d; d++) {
        if (p->defends[d] || (p->side == ABOVE && !s->may_defend[d])) continue;
        double pays = 0;
        for (int x = 0; x < p->n_actions; x++) {
            const double *r = s->reward + (p->action[x] * s->n_d + d) * k->n_t, *m = plan + p->action[x] * n_t;
            for (int t = 0; t < n_t; t++) pays += m[t] * r[p->intents[t]];
        }
        for (int i = s->by_action ? 0 : s->first[d]; i < (s->by_action ? s->n_o : s->first[d + 1]); i++) {
            double later = known[i], beta[INTENTS];
            if (p->some[i] < 0 && !s->by_action) {
                posterior(s, i, plan, n_t, beta);
                if (p->side == BELOW) later = hull(k, s->leads[i], beta, 0, 0, 0, 0);
                else vectors_at(k, &k->vectors.shelf[s->leads[i]], n_t, p->intents, beta, &later);
            }
            pays += k->discount * weight(s, i, d) * later;
        }
        if (value - pays > least) {
            least = value - pays;
            which = d;
        }
    }
    k->scratch.used = mark;
    if (which >= 0) program_defence(k, p, which);
    return which >= 0;
}

/* Add the action that gains most over what the belief's rows say an intent gets, if it gains anything. */
static int missed_action(Kernel *k, Program *p) {
    const State *s = p->here;
    const Answer *found = &k->answer;
    int n_t = p->n_t, which = -1;
    double most = k->missed;
    for (int a = 0; a < s->n_a; a++) {
        if (p->acts[a]) continue;
        double gets[INTENTS];
        for (int t = 0; t < n_t; t++) {
            gets[t] = 0;
            for (int x = 0; x < found->n_mixed; x++)
                gets[t] += found->chance[x] * s->reward[(a * s->n_d + found->defence[x]) * k->n_t + p->intents[t]];
        }
        for (int i = s->by_action ? s->first[a] : 0; i < (s->by_action ? s->first[a + 1] : s->n_o); i++) {
            double chance = k->discount * mass(s, i, a) * found->reach[i];
            for (int t = 0; t < n_t && chance > 0; t++) gets[t] += chance * found->promised[i * n_t + t];
        }
        for (int t = 0; t < n_t; t++) {
            double gains = gets[t] - price_of(&p->t, p->equal[t]);
            if (gains > most && program_plays(k, p, a, t) == NONNEGATIVE) {
                most = gains;
                which = a;
            }
        }
    }
    if (which >= 0) program_action(k, p, which);
    return which >= 0;
}

/* Take note of what follows where nothing is revealed. */
static void stand_in(Kernel *k, Program *p) {
    const State *s = p->here;
    for (int x = 0; x < s->n_s; x++) {
        double *plane = p->stand_in + x * p->n_t, value;
        if (p->side == BELOW) hull(k, s->successors[x], p->belief, plane, 0, 0, 0);
        else {
            const Shelf *shelf = &k->vectors.shelf[s->successors[x]];
            int at = vectors_at(k, shelf, p->n_t, p->intents, p->belief, &value);
            p->stand_in_node[x] = shelf->node[at];
            for (int t = 0; t < p->n_t; t++) plane[t] = shelf->coordinate[p->intents[t]][at];
        }
    }
}

/* Points have risen: lift the planes that no longer lie above them. Called where the program is at its last optimum. */
static int renew(Kernel *k, Program *p) {
    const State *s = p->here;
    int n_t = p->n_t, n = p->n_planes, lifted = 0;
    for (int c = n - 1; c >= 0; c--) {
        int x = s->toward[p->plane_of[c]];
        const Shelf *shelf = &k->points.shelf[s->successors[x]];
        double lacks = 0, plane[INTENTS];
        for (int z = p->read[x]; z < shelf->n_news; z++) {
            int node = shelf->news[z];
            double off = k->points.worth[node] - dot(p->plane + c * n_t, k->points.belief + (size)node * n_t, n_t);
            if (off > lacks) lacks = off;
        }
        k->work += (double)(shelf->n_news - p->read[x]) * n_t;
        if (lacks < RISEN * k->missed) continue;
        for (int t = 0; t < n_t; t++) plane[t] = p->plane[c * n_t + t] + lacks;
        program_plane(p, p->plane_of[c], plane, -1);
        if (!tableau_relax(&p->t, p->plane_slack[c])) return 0;
        program_forget(p, c);
        lifted++;
    }
    for (int x = 0; x < s->n_s; x++) p->read[x] = k->points.shelf[s->successors[x]].n_news;
    return !lifted || tableau_primal(&p->t);
}

static void settle(Kernel *k, Program *p, int ok) {
    for (int round = 0; round < ROUNDS && ok; round++) {
        k->work += p->t.work + ROUND;
        p->t.work = 0;
        read_answer(k, p);
        if (is_late(k)) break;
        if (p->side == ABOVE ? vectors_missed(k, p) : points_missed(k, p)) ok = tableau_dual(&p->t);
        else if (missed_defence(k, p)) ok = tableau_dual(&p->t);
        else if (missed_action(k, p)) ok = tableau_primal(&p->t);
        else break;
    }
    k->solves++;
    if (!ok) {
        read_answer(k, p);
        p->fresh = 1;
    }
}

void program_at(Kernel *k, Program *p, const double *belief) {
    int ok;
    if (p->t.pivots > RESTART || (p->side == BELOW && !p->fresh && !renew(k, p))) p->fresh = 1;
    for (int t = 0; t < p->n_t; t++) {
        if (!p->fresh) tableau_shift(&p->t, p->equal[t], belief[t] - p->belief[t]);
        p->belief[t] = belief[t];
    }
    for (int x = 0; x < p->n_actions && !p->fresh; x++)
        for (int t = 0; t < p->n_t; t++)
            p->t.kind[p->plan[p->action[x] * p->n_t + t]] = program_plays(k, p, p->action[x], t);
    stand_in(k, p);
    ok = p->fresh ? program_start(k, p) : tableau_dual(&p->t) && tableau_primal(&p->t);
    settle(k, p, ok);
    if (!p->fresh) program_tidy(p);
}

void program_for(Kernel *k, Program *p, const double *prices) {
    int ok;
    if (p->t.pivots > RESTART || (!p->fresh && !renew(k, p))) p->fresh = 1;
    for (int t = 0; t < p->n_t; t++) {
        if (!p->fresh) tableau_gain(&p->t, p->bought[t], p->prices[t] - prices[t]);
        p->prices[t] = prices[t];
        if (!p->begun) p->belief[t] = 1.0 / p->n_t;
    }
    stand_in(k, p);
    ok = p->fresh ? program_start(k, p) : tableau_primal(&p->t);
    settle(k, p, ok);
    if (!p->fresh) program_tidy(p);
}
