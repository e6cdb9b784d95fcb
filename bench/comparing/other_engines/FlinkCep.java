// Falls and recoveries by Flink CEP, as `clause.py` asks: prints the rows found and the CPU seconds
// of the faster of two runs, as JSON. Compiled and run by `flink_cep.py`.

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;

public class FlinkCep {
    public static class Trade {
        public int sym;
        public long ts;
        public double price;
    }

    public static class Found {
        public int sym;
        public long opened, bottom, closed;
    }

    static double last(IterativeCondition.Context<Trade> before) throws Exception {
        Trade found = null;
        for (Trade each : before.getEventsForPattern("strt")) found = each;
        for (Trade each : before.getEventsForPattern("down")) found = each;
        return found.price;
    }

    public static class Falls extends IterativeCondition<Trade> {
        @Override
        public boolean filter(Trade trade, Context<Trade> before) throws Exception {
            return trade.price < last(before);
        }
    }

    public static class Rises extends IterativeCondition<Trade> {
        @Override
        public boolean filter(Trade trade, Context<Trade> before) throws Exception {
            return trade.price > last(before);
        }
    }

    public static class Reported extends PatternProcessFunction<Trade, Found> {
        @Override
        public void processMatch(Map<String, List<Trade>> match, Context context, Collector<Found> out) {
            List<Trade> down = match.get("down");
            Found found = new Found();
            found.sym = down.get(0).sym;
            found.opened = match.get("strt").get(0).ts;
            found.bottom = down.get(down.size() - 1).ts;
            found.closed = match.get("up").get(0).ts;
            out.collect(found);
        }
    }

    static List<Trade> read(Path path) throws Exception {
        List<Trade> trades = new ArrayList<>();
        for (String line : Files.readAllLines(path)) {
            String[] values = line.split(",");
            Trade trade = new Trade();
            trade.sym = Integer.parseInt(values[0]);
            trade.ts = Timestamp.valueOf(values[1]).getTime();
            trade.price = Double.parseDouble(values[2]);
            trades.add(trade);
        }
        return trades;
    }

    static int matches(List<Trade> trades) throws Exception {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        environment.setParallelism(1);
        environment.getConfig().enableObjectReuse();
        Pattern<Trade, ?> pattern =
                Pattern.<Trade>begin("strt", AfterMatchSkipStrategy.skipToLast("up"))
                        .next("down").where(new Falls()).oneOrMore().consecutive()
                        .next("up").where(new Rises());
        WatermarkStrategy<Trade> inOrder =
                WatermarkStrategy.<Trade>forMonotonousTimestamps()
                        .withTimestampAssigner((trade, time) -> trade.ts);
        DataStream<Trade> stream =
                environment.fromData(trades).assignTimestampsAndWatermarks(inOrder).keyBy(trade -> trade.sym);
        int count = 0;
        try (CloseableIterator<Found> found = CEP.pattern(stream, pattern).process(new Reported()).executeAndCollect()) {
            for (; found.hasNext(); found.next()) count++;
        }
        return count;
    }

    public static void main(String[] arguments) throws Exception {
        List<Trade> trades = read(Path.of(arguments[0]));
        OperatingSystemMXBean clock = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double fastest = Double.POSITIVE_INFINITY;
        int rows = 0;
        for (int run = 0; run < 2; run++) {
            long begin = clock.getProcessCpuTime();
            rows = matches(trades);
            fastest = Math.min(fastest, (clock.getProcessCpuTime() - begin) / 1e9);
        }
        System.out.println("{\"rows\": " + rows + ", \"seconds\": " + fastest + "}");
        System.exit(0);
    }
}
