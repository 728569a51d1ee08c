import java.io.File;
import java.util.List;
import org.graalvm.visualvm.lib.jfluid.heap.*;

/**
 * Prints what VisualVM's reader finds in the Java heap dumps FILE..., for tests, to FILE.rows: objects, references and
 * roots, as the oracle dumpfile prints them; and to FILE.summary how many objects retain bytes.
 */
public class Visualvm {
	private final Heap heap;
	private final int word;
	private final java.io.PrintWriter out;

	private Visualvm(File file, int word, java.io.PrintWriter out) throws java.io.IOException {
		heap = HeapFactory.createHeap(file);
		this.word = word;
		this.out = out;
	}

	/** Threads and their names are no objects of the heap. */
	private static boolean isAdded(Instance instance) {
		String name = instance.getJavaClass().getName();
		return name.startsWith("java.lang.") || name.equals("char[]");
	}

	private void reference(Instance from, Instance to) {
		if (to != null)
			out.printf("reference\t0x%x\t0x%x%n", from.getInstanceId(), to.getInstanceId());
	}

	/** Of an element of an array, in bytes. */
	private static int width(String array) {
		switch (array) {
		case "short[]":
			return 2;
		case "int[]":
		case "float[]":
			return 4;
		case "long[]":
		case "double[]":
			return 8;
		default:
			return 1;
		}
	}

	private void object(Instance object) {
		long size = object.getSize();
		if (object instanceof PrimitiveArrayInstance) {
			size = (long) ((PrimitiveArrayInstance) object).getLength() * width(object.getJavaClass().getName());
		} else if (object instanceof ObjectArrayInstance) {
			size = (long) ((ObjectArrayInstance) object).getLength() * word;
			for (Object to : ((ObjectArrayInstance) object).getValues())
				reference(object, (Instance) to);
		}
		for (Object value : object.getFieldValues())
			if (value instanceof ObjectFieldValue)
				reference(object, ((ObjectFieldValue) value).getInstance());
		out.printf("object\t0x%x\t%d%n", object.getInstanceId(), size);
	}

	private static long goroutine(ThreadObjectGCRoot thread) {
		return (Long) thread.getInstance().getValueOfField("tid");
	}

	private void root(GCRoot root) {
		long id = root.getInstance().getInstanceId();
		switch (root.getKind()) {
		case GCRoot.STICKY_CLASS:
			for (FieldValue value : heap.getJavaClassByID(id).getStaticFieldValues())
				if (!value.getField().getName().equals("<classLoader>"))
					out.printf("root\t%s\t0x%x%n", value.getField().getName(),
						((ObjectFieldValue) value).getInstance().getInstanceId());
			break;
		case GCRoot.JAVA_FRAME:
			JavaFrameGCRoot frame = (JavaFrameGCRoot) root;
			out.printf("root\tframe\t%d\t%d\t0x%x%n", goroutine(frame.getThreadGCRoot()), frame.getFrameNumber(), id);
			break;
		case GCRoot.JNI_LOCAL:
			out.printf("root\tlocal\t%d\t0x%x%n", goroutine(((JniLocalGCRoot) root).getThreadGCRoot()), id);
			break;
		case GCRoot.NATIVE_STACK:
			out.printf("root\tnative stack\t0x%x%n", id);
			break;
		case GCRoot.THREAD_OBJECT:
			break;
		default:
			out.printf("root\t%s\t0x%x%n", root.getKind(), id);
		}
	}

	private void rows() {
		for (java.util.Iterator<Instance> all = heap.getAllInstancesIterator(); all.hasNext();) {
			Instance instance = all.next();
			if (!isAdded(instance))
				object(instance);
		}
		for (GCRoot root : heap.getGCRoots())
			root(root);
	}

	private void stacks(java.io.PrintWriter out) {
		for (GCRoot root : heap.getGCRoots()) {
			if (!(root instanceof ThreadObjectGCRoot))
				continue;
			int depth = 0;
			for (StackTraceElement call : ((ThreadObjectGCRoot) root).getStackTrace())
				out.printf("%d\t%d\t%s.%s\t%s\t%d%n", goroutine((ThreadObjectGCRoot) root), depth++,
					call.getClassName(), call.getMethodName(), call.getFileName(), Math.max(call.getLineNumber(), 0));
		}
	}

	public static void main(String[] args) throws Exception {
		int word = Integer.parseInt(args[0]);
		File file = new File(args[1]);
		try (java.io.PrintWriter rows = new java.io.PrintWriter(file + ".rows");
			java.io.PrintWriter stacks = new java.io.PrintWriter(file + ".stacks")) {
			Visualvm reader = new Visualvm(file, word, rows);
			reader.rows();
			reader.stacks(stacks);
			List<Instance> biggest = reader.heap.getBiggestObjectsByRetainedSize(1);
			System.out.printf("0x%x%n", biggest.get(0).getInstanceId());
		}
	}
}
