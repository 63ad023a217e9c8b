// Package rules says what the controllers of Kruise and Kubernetes do next, and
// why: one file per rule, every rule a pure function over what is known. The
// planner, the client driver and the simulated controllers all ask here, so a
// preview cannot differ from what happens.
//
// Rules know no clock (now is an argument), no files and no cluster. They never
// change their input and never fail on odd values: a controller does not refuse
// what its webhook let through, so each rule says what the controller makes of
// it. Where Kruise leaves the choice open, pods come in the order of their
// names, and the result says which of them could be exchanged.
package rules
