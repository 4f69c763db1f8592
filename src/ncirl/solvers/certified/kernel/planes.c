/* What follows an observation i of a program: V_i <= α·β_i for every plane α that it has.

   V_i is free and never leaves, so its row is not kept: V_i = α·β_i - slack, by any plane of i. */
#include "kernel.h"

/* V_i as the program has it. */
double program_value(const Program *p, int i, const double *beta) {
    int c = p->some[i];
    return dot(p->plane + c * p->n_t, beta, p->n_t) - value_of(&p->t, p->plane_slack[c]);
}

/* Take note of a plane, known by its slack from now on. */
static void note_plane(Program *p, int i, const double *plane, int node, int slack) {
    int n_t = p->n_t;
    if (p->n_planes == p->planes_room) {
        int had = p->planes_room, room = 2 * had + 64;
        MORE(p->plane_slack, had, room);
        MORE(p->plane_of, had, room);
        MORE(p->plane_node, had, room);
        MORE(p->plane_idle, had, room);
        MORE(p->plane, had * n_t, room * n_t);
        p->planes_room = room;
    }
    int c = p->n_planes++;
    p->plane_slack[c] = slack;
    p->plane_of[c] = i;
    p->plane_node[c] = node;
    p->plane_idle[c] = 0;
    for (int t = 0; t < n_t; t++) p->plane[c * n_t + t] = plane[t];
}

/* V_i <= α·β_i, that is (α' - α)·β_i <= the slack of another plane α' of i. */
void program_plane(Program *p, int i, const double *plane, int node) {
    const State *s = p->here;
    int n_t = p->n_t, n = 0, actions = s->by_action ? 1 : p->n_actions, most = 1 + actions * n_t;
    int *var = NEW(int, most);
    double *coef = NEW(double, most);
    const double *other = p->plane + p->some[i] * n_t;
    var[n] = p->plane_slack[p->some[i]];
    coef[n++] = -1;
    for (int x = 0; x < actions; x++) {
        int a = s->by_action ? s->owner[i] : p->action[x];
        double q = mass(s, i, a);
        if (q > 0)
            for (int t = 0; t < n_t; t++) {
                var[n] = p->plan[a * n_t + t];
                coef[n++] = q * (other[t] - plane[t]);
            }
    }
    note_plane(p, i, plane, node, tableau_row(&p->t, n, var, coef, 0, NONNEGATIVE));
    FREE(var, most);
    FREE(coef, most);
}

/* Give an observation a first plane, what is best where nothing has been revealed: its slack takes the place of V_i. */
void program_open(Kernel *k, Program *p, int i) {
    const State *s = p->here;
    int toward = s->toward[i];
    double *coef = NEW(double, s->n_d);
    for (int x = 0; x < p->n_defences; x++) coef[x] = k->discount * weight(s, i, p->defence[x]);
    int slack = tableau_column(&p->t, p->n_defences, p->defence_slack, coef, 0, NONNEGATIVE);
    p->some[i] = p->n_planes;
    note_plane(p, i, p->stand_in + toward * p->n_t, p->stand_in_node[toward], slack);
    FREE(coef, s->n_d);
}

/* Another plane of the same observation, -1 if there is none. */
int program_another(const Program *p, int plane) {
    for (int c = 0; c < p->n_planes; c++)
        if (c != plane && p->plane_of[c] == p->plane_of[plane]) return c;
    return -1;
}

void program_forget(Program *p, int c) {
    int i = p->plane_of[c], last = p->n_planes - 1;
    if (p->some[i] == c) p->some[i] = program_another(p, c);
    if (p->some[p->plane_of[last]] == last) p->some[p->plane_of[last]] = c;
    tableau_drop(&p->t, p->plane_slack[c]);
    p->plane_slack[c] = p->plane_slack[last];
    p->plane_of[c] = p->plane_of[last];
    p->plane_node[c] = p->plane_node[last];
    p->plane_idle[c] = p->plane_idle[last];
    for (int t = 0; t < p->n_t; t++) p->plane[c * p->n_t + t] = p->plane[last * p->n_t + t];
    p->n_planes--;
}
