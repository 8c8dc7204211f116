// SPDX-License-Identifier: Apache-2.0

// Builds the metric families and lets prometheus-cpp write them; see metrics.hpp. The figures are
// read when a scrape asks, so counting costs the request path nothing.

#include "http/metrics.hpp"

#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace nidus::http {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Sample {
  double value;
  std::vector<ClientMetric::Label> labels = {};
};

template <class Number>
double to_double(Number n) {
  return static_cast<double>(n);
}

class Families {
 public:
  void counter(const char* name, const char* help, const std::vector<Sample>& samples) {
    add(name, help, MetricType::Counter, samples);
  }
  template <class Number>
  void counter(const char* name, const char* help, Number value) {
    counter(name, help, {Sample{to_double(value)}});
  }
  void gauge(const char* name, const char* help, const std::vector<Sample>& samples) {
    add(name, help, MetricType::Gauge, samples);
  }
  template <class Number>
  void gauge(const char* name, const char* help, Number value) {
    gauge(name, help, {Sample{to_double(value)}});
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  void add(const char* name, const char* help, MetricType type,
           const std::vector<Sample>& samples) {
    MetricFamily family{name, help, type, {}};
    for (const Sample& sample : samples) {
      ClientMetric metric;
      metric.label = sample.labels;
      (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = sample.value;
      family.metric.push_back(std::move(metric));
    }
    families_.push_back(std::move(family));
  }

  std::vector<MetricFamily> families_;
};

void add_process(const Figures& f, Families& out) {
  out.gauge("nidus_build_info", "Always 1; the label is the version.",
            {{1, {{"version", f.version}}}});
  out.gauge("nidus_start_time_seconds", "When the server started, in Unix time.", f.start_time_s);
  out.gauge("nidus_threads", "Threads that serve clients.", f.threads);
  out.counter("nidus_cpu_seconds_total", "CPU time of the process.",
              {{f.cpu_user_s, {{"mode", "user"}}}, {f.cpu_system_s, {{"mode", "system"}}}});
}

void add_clients(const Figures& f, Families& out) {
  out.gauge("nidus_connected_clients", "Connections that are open.", f.connected_clients);
  out.gauge("nidus_max_clients", "Connections that may be open at once.", f.max_clients);
  out.counter("nidus_connections_total", "Connections accepted.", f.connections);
  out.counter("nidus_connections_rejected_total", "Connections refused at a limit.",
              f.connections_rejected);
  out.counter("nidus_clients_cut_off_total", "Clients disconnected at a limit of theirs.",
              {{to_double(f.cut_off_query_buffer), {{"limit", "query_buffer"}}},
               {to_double(f.cut_off_output_buffer), {{"limit", "output_buffer"}}}});
  out.counter("nidus_commands_total", "Commands executed.", f.commands);
  out.counter("nidus_network_received_bytes_total", "Bytes read from clients.", f.received_bytes);
  out.counter("nidus_network_sent_bytes_total", "Bytes written to clients.", f.sent_bytes);
}

void add_keyspace(const Figures& f, Families& out) {
  std::vector<Sample> keys, expiring;
  for (const DatabaseFigures& database : f.databases) {
    const ClientMetric::Label label{"database", std::to_string(database.number)};
    keys.push_back({to_double(database.keys), {label}});
    expiring.push_back({to_double(database.expiring_keys), {label}});
  }
  out.gauge("nidus_keys", "Keys stored.", keys);
  out.gauge("nidus_expiring_keys", "Keys stored that carry an expiry.", expiring);
  out.counter("nidus_keyspace_hits_total", "Reads that found their key.", f.hits);
  out.counter("nidus_keyspace_misses_total", "Reads that found no key.", f.misses);
  out.counter("nidus_keyspace_writes_total", "Writes of keys.", f.writes);
  out.counter("nidus_keyspace_writes_refused_total", "Writes refused at the memory limit.",
              f.writes_refused);
  out.counter("nidus_expired_keys_total", "Keys removed because they expired.", f.expired);
  out.counter("nidus_evicted_keys_total", "Keys removed to hold the memory limit.", f.evicted);
}

void add_memory(const Figures& f, Families& out) {
  out.gauge("nidus_memory_used_bytes",
            "Memory by what it holds: items and index count towards the limit; retired waits for "
            "its readers; clients are their buffers.",
            {{to_double(f.item_bytes), {{"part", "items"}}},
             {to_double(f.index_bytes), {{"part", "index"}}},
             {to_double(f.retired_bytes), {{"part", "retired"}}},
             {to_double(f.client_bytes), {{"part", "clients"}}}});
  out.gauge("nidus_memory_limit_bytes", "The memory limit; 0: none.", f.memory_limit_bytes);
  out.gauge("nidus_memory_peak_bytes", "The most that items and index have held.",
            f.memory_peak_bytes);
  out.gauge("nidus_resident_memory_bytes", "Resident size of the process.", f.resident_bytes);
}

}  // namespace

std::string metrics_text(const Figures& figures) {
  Families families;
  add_process(figures, families);
  add_clients(figures, families);
  add_keyspace(figures, families);
  add_memory(figures, families);
  return families.text();
}

}  // namespace nidus::http
