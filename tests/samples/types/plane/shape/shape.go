// Package shape is one of two packages of that name.
package shape

// Shape is a type that the other package has as well.
type Shape struct {
	Width, Height float64
}

// Area is a method that an interface asks for.
func (s Shape) Area() float64 {
	return s.Width * s.Height
}
