// Package live is what the keys of the terminal interface do with rollouts.
package live
