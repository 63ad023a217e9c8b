// Package cluster holds what planning knows of a cluster: pods, revisions,
// nodes and feature gates, in terms of its own. The rules read it, the planner
// and the simulator are built on it, and whoever talks to a real API server
// translates into it. It knows no client, no file and no clock; nothing here
// decides anything.
package cluster
