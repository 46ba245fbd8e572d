package mint

// Wake is what the service does when its clock has leapt or its process was suspended.
func (s *Service) Wake() { s.wake() }
