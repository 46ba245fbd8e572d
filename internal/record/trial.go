package record

// Tried is a turn of a trial: one that began while a canary had a share of the conversations.
type Tried struct {
	Turn         string
	Conversation string // the session where it began
	Arm          string // ArmChampion or ArmCanary
}
