"""Where alerts go: one call for every micro-batch, one in all for a batch run."""

from pyspark.sql import DataFrame


def send(alerts: DataFrame, batch: int) -> None:
    for alert in alerts.orderBy("end_time").toLocalIterator():
        print(f"{alert.end_time:%H:%M:%S}  {alert['name']}: again, {alert.gain:+.2f} higher")
