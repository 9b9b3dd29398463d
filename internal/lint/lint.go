// Package lint holds the rules of the house that the compiler does not know, as tests: which package may import which,
// who may touch files, and what start-up may cost. It holds nothing else.
package lint
