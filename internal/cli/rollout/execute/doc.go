// Package execute carries rollouts out, for the verbs, the interface and the Job of --detach: of one workload, of several, of
// the subsets of a UnitedDeployment.
package execute
