// EASY for one module of rigid jobs, first come first served: arrays in, starts out, nothing else.
//
// The same loop as easy() in bare_loop.py, with what the standard library offers: a heap of ends and a
// sorted array of planned ends. Built and called by benchmarks/native.py where a compiler is there.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using Time = std::int64_t;
using End = std::pair<Time, Time>;  // when, and the row of the job

constexpr Time never = Time{1} << 60;

bool later(const End& one, const End& other) { return one.first > other.first; }

bool earlier(const End& one, const End& other) { return one.first < other.first; }

}  // namespace

extern "C" void easy(Time count, const Time* submit, const Time* nodes, const Time* limit, const Time* duration,
                     Time machine, Time* starts) {
    std::vector<End> heap, plan;  // what runs: by its end, and by its planned end
    std::vector<Time> follow(count + 1, -1);  // who waits behind whom; the front behind ``count``
    heap.reserve(machine + 1);
    plan.reserve(machine + 1);
    Time seen = 0, free = machine, last = count, shadow = never, extra = 0;
    while (seen < count || !heap.empty()) {
        Time now = heap.empty() ? never : heap.front().first;
        if (seen < count) now = std::min(now, submit[seen]);
        bool ended = false;
        while (!heap.empty() && heap.front().first == now) {
            Time row = heap.front().second;
            std::pop_heap(heap.begin(), heap.end(), later);
            heap.pop_back();
            free += nodes[row];
            auto place = std::lower_bound(plan.begin(), plan.end(), End{starts[row] + limit[row], 0}, earlier);
            while (place->second != row) ++place;
            plan.erase(place);
            ended = true;
        }
        const Time newcomers = last;
        while (seen < count && submit[seen] == now) {
            follow[last] = seen;
            last = seen++;
        }
        const bool fresh = ended || newcomers == count;  // else the front stays: try the newcomers alone
        Time before = fresh ? count : newcomers;
        bool blocked = !fresh;
        while (follow[before] >= 0 && free > 0) {
            const Time row = follow[before];
            bool fits = nodes[row] <= free;
            if (!fits && !blocked) {  // the front: when planned ends free enough, and what is left then
                blocked = true;
                Time available = free;
                auto next = plan.begin();
                while (available < nodes[row]) available += nodes[(next++)->second];
                shadow = std::prev(next)->first;
                while (next != plan.end() && next->first == shadow) available += nodes[(next++)->second];
                extra = available - nodes[row];
            } else if (fits && blocked && now + limit[row] > shadow) {
                fits = nodes[row] <= extra;
                if (fits) extra -= nodes[row];
            }
            if (!fits) {
                before = row;
                continue;
            }
            follow[before] = follow[row];
            if (last == row) last = before;
            starts[row] = now;
            free -= nodes[row];
            const End planned{now + limit[row], row};
            plan.insert(std::upper_bound(plan.begin(), plan.end(), planned, earlier), planned);
            heap.emplace_back(now + duration[row], row);
            std::push_heap(heap.begin(), heap.end(), later);
        }
    }
}
