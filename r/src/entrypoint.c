/* The library is in Rust; R looks for this function in a C file. */
void R_init_rarely_extendr(void *dll);

void R_init_rarely(void *dll) { R_init_rarely_extendr(dll); }
