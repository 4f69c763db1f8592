#pragma once
void walk(Kernel *k);
void trial(Kernel *k);
int improve(Kernel *k); /* whether there was anything to improve */
void bounds_at(Kernel *k, Root *root, double *low, double *high);
