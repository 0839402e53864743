import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.HistogramLogReader;

/**
 * Reads histograms with HdrHistogram's own library and prints what it sees in them. A line of the input is "histogram",
 * a name and a histogram in base64, or "log", a name and the path of a log; then percentiles. Fields are separated by
 * tabs. For each percentile it prints the bounds of the values that the histogram doesn't tell apart from the
 * percentile's, and the number of values up to these.
 */
public class Reader {
  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] fields = line.split("\t");
      switch (fields[0]) {
        case "histogram":
          byte[] encoded = Base64.getDecoder().decode(fields[2]);
          print(fields[1], Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(encoded), 0), fields);
          break;
        case "log":
          HistogramLogReader reader = new HistogramLogReader(new File(fields[2]));
          for (EncodableHistogram h = reader.nextIntervalHistogram(); h != null; h = reader.nextIntervalHistogram()) {
            String tag = h.getTag() == null ? "" : h.getTag();
            String name = fields[1] + "/" + tag;
            System.out.printf("interval\t%s\t%d\t%d%n", name, h.getStartTimeStamp(), h.getEndTimeStamp());
            print(name, (Histogram) h, fields);
          }
          break;
        default:
          throw new IllegalArgumentException(line);
      }
    }
  }

  private static void print(String name, Histogram h, String[] fields) {
    System.out.printf("total\t%s\t%d%n", name, h.getTotalCount());
    for (int i = 3; i < fields.length; i++) {
      long value = h.getValueAtPercentile(Double.parseDouble(fields[i]));
      print("percentile", name, fields[i], h, value);
    }
    for (HistogramIterationValue v : h.percentiles(5)) {
      String level = String.format("%.12f", v.getPercentileLevelIteratedTo() / 100);
      print("tick", name, level, h, v.getValueIteratedTo());
    }
  }

  private static void print(String kind, String name, String level, Histogram h, long value) {
    long low = h.lowestEquivalentValue(value);
    long high = h.highestEquivalentValue(value);
    System.out.printf("%s\t%s\t%s\t%d\t%d\t%d%n", kind, name, level, low, high, h.getCountBetweenValues(0, high));
  }
}
