package fields

// Metadata are the flags that all objects have.
var Metadata = []Field{
	{Flag: "labels", Path: "metadata.labels", Shape: Pairs, Help: "labels of the object"},
	{Flag: "annotations", Path: "metadata.annotations", Shape: Pairs, Help: "annotations of the object"},
}
