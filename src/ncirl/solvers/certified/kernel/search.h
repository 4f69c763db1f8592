#pragma once
void walk(Kernel *k);
void trial(Kernel *k);
int improve(Kernel *k); /* whether there was anything to improve */
double begun(Kernel *k, const Root *root, int *n, int *which, double *share);
void bounds_at(Kernel *k, Root *root, double *low, double *high);
