package tree

// Replace puts the key by with the value v where key stands in the mapping n,
// and removes key. When by has a place of its own already, it keeps that; when
// key is not there, by is set as Set does.
func Replace(n *Node, key, by string, v *Node) {
	if !Has(n, by) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				n.Content[i], n.Content[i+1] = String(by), v
				return
			}
		}
	}
	Set(n, by, v)
	Delete(n, key)
}
