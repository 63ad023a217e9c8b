package plan

// carried reads a native object whose pods the client updates: order and limits
// are those of the Kruise object that it stands for.
func (b *builder) carried() subject { return b.replicaSet() }

// clientSteps makes the steps that change named pods.
func (b *builder) clientSteps(rungs []rung) { _ = rungs }
