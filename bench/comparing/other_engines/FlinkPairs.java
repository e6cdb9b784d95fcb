// All pairs of `bench.spark_others` by Flink CEP over a CSV file: prints how many there are and the
// CPU seconds of the job, as JSON. Compiled and run by `flink_pairs.py`.

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;

public class FlinkPairs {
    public static class Event {
        public long id, k, millis;
        public boolean first, second;
    }

    static Event read(String line) {
        String[] values = line.split(",");
        double price = Double.parseDouble(values[3]);
        Event event = new Event();
        event.id = Long.parseLong(values[0]);
        event.k = Long.parseLong(values[2]);
        event.millis = Long.parseLong(values[4]);
        event.first = values[1].equals("T1") && price > 80;
        event.second = values[1].equals("T2") && price < 20;
        return event;
    }

    public static class Ids extends PatternProcessFunction<Event, Long> {
        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<Long> out) {
            out.collect(match.get("a").get(0).id);
        }
    }

    static int pairs(String file, long window) throws Exception {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment.setParallelism(2);
        environment.getConfig().enableObjectReuse();
        // a pair may be as long as the window, which Flink leaves out
        Pattern<Event, ?> pattern =
                Pattern.<Event>begin("a").where(SimpleCondition.of(event -> event.first))
                        .followedByAny("b").where(SimpleCondition.of(event -> event.second))
                        .within(Duration.ofMillis(window + 1));
        WatermarkStrategy<Event> inOrder =
                WatermarkStrategy.<Event>forMonotonousTimestamps()
                        .withTimestampAssigner((event, time) -> event.millis);
        FileSource<String> lines =
                FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(file)).build();
        DataStream<Event> stream =
                environment.fromSource(lines, WatermarkStrategy.noWatermarks(), "events").setParallelism(1)
                        .map(FlinkPairs::read).returns(Event.class).setParallelism(1)
                        .filter(event -> event.first || event.second).setParallelism(1)
                        .assignTimestampsAndWatermarks(inOrder).setParallelism(1)
                        .keyBy(event -> event.k);
        int count = 0;
        try (CloseableIterator<Long> found = CEP.pattern(stream, pattern).process(new Ids()).executeAndCollect()) {
            for (; found.hasNext(); found.next()) count++;
        }
        return count;
    }

    public static void main(String[] arguments) throws Exception {
        OperatingSystemMXBean clock = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long begin = clock.getProcessCpuTime();
        int rows = pairs(arguments[0], Long.parseLong(arguments[1]));
        double seconds = (clock.getProcessCpuTime() - begin) / 1e9;
        System.out.println("{\"rows\": " + rows + ", \"seconds\": " + seconds + "}");
        System.exit(0);
    }
}
