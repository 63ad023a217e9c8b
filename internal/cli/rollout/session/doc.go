// Package session is how the verbs of rollouts reach the cluster: it opens workloads, asks the person at the terminal, and has
// the records of rollouts and what was approved on this machine.
package session
