// Package shape is one of two packages of that name.
package shape

// Shape is a type that the other package has as well.
type Shape struct {
	Name  string
	Edges [3]float32
}

// Area is a method that an interface asks for.
func (s *Shape) Area() float64 {
	return float64(s.Edges[0] * s.Edges[1])
}
