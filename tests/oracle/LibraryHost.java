/* A program in Java that calls a Go library, by way of the library that is its argument: library_jni.c. */
public class LibraryHost {
	static native int work(int n);

	public static void main(String[] arguments) {
		System.load(arguments[0]);
		System.out.println(work(21));
	}
}
