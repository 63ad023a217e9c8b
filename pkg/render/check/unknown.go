package check

// UnknownField is the ID of the rule about fields that a kind does not have. An
// API server drops such a field unless it is asked to be strict.
const UnknownField = unknownField
