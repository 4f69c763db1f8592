#pragma once
void walk(Kernel *k);
void trial(Kernel *k);
int improve(Kernel *k); /* whether there was anything to improve */
void look_at(Kernel *k, Root *root);
void bounds_at(Kernel *k, const Root *root, double *low, double *high);
