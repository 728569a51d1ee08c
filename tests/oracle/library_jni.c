/* What LibraryHost.java calls a Go library's function Work by. */
#include <jni.h>

int Work(int n);

JNIEXPORT jint JNICALL Java_LibraryHost_work(JNIEnv *environment, jclass host, jint n)
{
	(void)environment;
	(void)host;
	return Work(n);
}
