package theme

// SymbolsFor are the symbols of a terminal with Unicode, or of one without: what is printed
// by other programs than the interface has its marks.
func SymbolsFor(isASCII bool) Symbols {
	if isASCII {
		return ascii
	}
	return unicode
}
