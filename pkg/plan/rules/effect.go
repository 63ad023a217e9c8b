package rules

var effectWords = map[Effect]string{
	EffectImage: "can change in place", EffectMetadata: "merged into the pod", EffectEnv: "can change in place",
	EffectResources: "can change in place", EffectRecreate: "needs a new pod", EffectNewPods: "new pods only",
}

// Words are what the effect means for pods.
func (e Effect) Words() string { return effectWords[e] }
