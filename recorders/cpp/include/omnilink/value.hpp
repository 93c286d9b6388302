// Values in the encoding of FORMAT.md: one byte where possible.
//
// `Encoding<T>` writes a `T` in two steps: `bound` returns the maximum number of bytes, so that room is made once per
// record, or rejects the value; `write` then writes without checking for room. To record your own type, specialize
// `Encoding` for it, usually in terms of a type that has one.
//
// Arguments of the same type are written inline, without a copy and without an allocation. `Value` is for data whose
// type is known only at run time.

#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "error.hpp"

namespace omnilink {

// The encoding of a type `T`.
//
//   static std::size_t bound(const T& value);                      at least the number of bytes that `write` writes
//   static std::uint8_t* write(std::uint8_t* to, const T& value);  returns the end of the written bytes
template <class T, class = void>
struct Encoding;

namespace detail {

inline void store_little_endian(std::uint8_t* to, std::uint64_t number) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  number = __builtin_bswap64(number);
#endif
  std::memcpy(to, &number, sizeof number);
}

// A varint has seven bits per byte, lowest first; all bytes but the last have the top bit set.
constexpr std::size_t longest_varint = 10;

// `write` may store this many zeros behind the written bytes, because eight bytes are stored at a time.
constexpr std::size_t room_beyond = 8;

// Numbers of up to 56 bits take no branch on their length, which no processor could predict.
inline std::uint8_t* write_varint(std::uint8_t* to, std::uint64_t number) {
  if (number < std::uint64_t{1} << 56U) {
    // Groups of seven bits move apart: first two halves of four groups, then quarters of two, then single groups.
    std::uint64_t groups = (number & 0x0FFFFFFF) | ((number & 0x00FFFFFFF0000000) << 4U);
    groups = (groups & 0x00003FFF00003FFF) | ((groups & 0x0FFFC0000FFFC000) << 2U);
    groups = (groups & 0x007F007F007F007F) | ((groups & 0x3F803F803F803F80) << 1U);
    const auto last = (63U - static_cast<unsigned>(__builtin_clzll(groups | 1U))) / 8U;
    const std::uint64_t more = 0x8080808080808080 & ((std::uint64_t{1} << (8U * last)) - 1);
    store_little_endian(to, groups | more);
    return to + last + 1;
  }
  while (number >= 0x80) {
    *to++ = static_cast<std::uint8_t>(number | 0x80U);
    number >>= 7U;
  }
  *to++ = static_cast<std::uint8_t>(number);
  return to;
}

// Zig-zag, so that small negative numbers are short, too.
inline std::uint8_t* write_signed(std::uint8_t* to, std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  return write_varint(to, (bits << 1U) ^ (number < 0 ? UINT64_MAX : 0U));
}

inline std::uint8_t* write_integer(std::uint8_t* to, std::int64_t number) {
  if (number >= -16 && number <= 175) {
    *to++ = static_cast<std::uint8_t>(number + 0x50);
    return to;
  }
  *to++ = 0x03;
  return write_signed(to, number);
}

// An integer of more than 64 bits with its sign, by its digits.
constexpr std::size_t longest_digits = 20;

inline std::uint8_t* write_digits(std::uint8_t* to, std::uint64_t number) {
  std::array<std::uint8_t, longest_digits> digits{};
  std::size_t count = 0;
  for (; number > 0; number /= 10) digits[count++] = static_cast<std::uint8_t>('0' + number % 10);
  *to++ = 0x09;
  *to++ = static_cast<std::uint8_t>(count);
  while (count > 0) *to++ = digits[--count];
  return to;
}

inline bool is_ascii(std::string_view text) {
  unsigned char bits = 0;
  for (const char c : text) bits = static_cast<unsigned char>(bits | static_cast<unsigned char>(c));
  return bits < 0x80;
}

// The number of bytes of `text` that form one character of UTF-8, or 0 if they do not.
inline std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

// A string may hold any bytes and a trace may not. Two strings that differ must not look the same in a trace, so
// bytes that are not UTF-8 are rejected, as a number that is not finite is.
inline void expect_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0) fail("a string that is not UTF-8 cannot be recorded; record its bytes as a vector of integers");
    text.remove_prefix(length);
  }
}

inline std::size_t bound_of_text(std::string_view text) {
  if (!is_ascii(text)) expect_utf8(text);
  return longest_varint + text.size();
}

// `string` of FORMAT.md: a length and bytes, without a tag.
inline std::uint8_t* write_text(std::uint8_t* to, std::string_view text) {
  to = write_varint(to, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// `string` of FORMAT.md as a value: short ones have their length in the tag.
inline std::uint8_t* write_string(std::uint8_t* to, std::string_view text) {
  if (text.size() >= 32) {
    *to++ = 0x05;
    return write_text(to, text);
  }
  *to++ = static_cast<std::uint8_t>(0x20 + text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T, class = void>
constexpr bool has_encoding = false;
template <class T>
constexpr bool has_encoding<T, std::void_t<decltype(sizeof(Encoding<T>))>> = true;

// True, or an error that says what to do, instead of one about an incomplete type.
template <class T>
constexpr bool expect_encoding() {
  static_assert(has_encoding<T>, "a value of this type cannot be recorded: specialize omnilink::Encoding for it");
  return has_encoding<T>;
}

template <class T>
std::size_t bound(const T& value) {
  if constexpr (expect_encoding<T>()) {
    return Encoding<T>::bound(value);
  } else {
    return 0;
  }
}

template <class T>
std::uint8_t* write(std::uint8_t* to, const T& value) {
  if constexpr (expect_encoding<T>()) {
    return Encoding<T>::write(to, value);
  } else {
    return to;
  }
}

constexpr std::uint8_t tuple_tag = 0x06;
constexpr std::uint8_t set_tag = 0x07;
constexpr std::uint8_t function_tag = 0x08;

// One level of a tuple, set or function, while its bound is computed. Counted beside the values, so that levels of
// all types count, also of those with a user's `Encoding`.
class Level {
 public:
  Level() {
    if (depth_ == deepest) fail("tuples, sets and functions nest at most 32 deep");
    ++depth_;
  }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  static constexpr unsigned deepest = 32;
  static inline thread_local unsigned depth_ = 0;
};

// A tuple or set of the elements of a container.
template <class Container, std::uint8_t tag>
struct ItemsEncoding {
  static std::size_t bound(const Container& items) {
    const Level level;
    std::size_t sum = 1 + longest_varint;
    for (const auto& item : items) sum += detail::bound<typename Container::value_type>(item);
    return sum;
  }
  static std::uint8_t* write(std::uint8_t* to, const Container& items) {
    *to++ = tag;
    to = write_varint(to, items.size());
    for (const auto& item : items) to = detail::write<typename Container::value_type>(to, item);
    return to;
  }
};

template <class Tuple>
struct TupleEncoding {
  static std::size_t bound(const Tuple& items) {
    const Level level;
    return std::apply([](const auto&... item) { return ((1 + longest_varint) + ... + detail::bound(item)); }, items);
  }
  static std::uint8_t* write(std::uint8_t* to, const Tuple& items) {
    *to++ = tuple_tag;
    to = write_varint(to, std::tuple_size_v<Tuple>);
    std::apply([&](const auto&... item) { ((to = detail::write(to, item)), ...); }, items);
    return to;
  }
};

// `char` could mean a number or a letter, so it is neither; convert it to the intended type.
template <class T>
constexpr bool is_character = std::is_same_v<T, char> || std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> ||
                              std::is_same_v<T, char32_t>;

}  // namespace detail

// Integers. Those of more than 64 bits with their sign are written by their digits.
template <class T>
struct Encoding<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !detail::is_character<T>>> {
  static_assert(sizeof(T) <= 8, "integers of more than 64 bits have no encoding");
  static std::size_t bound(T number) { return is_large(number) ? 2 + detail::longest_digits : 1 + detail::longest_varint; }
  static std::uint8_t* write(std::uint8_t* to, T number) {
    if (is_large(number)) return detail::write_digits(to, static_cast<std::uint64_t>(number));
    return detail::write_integer(to, static_cast<std::int64_t>(number));
  }

 private:
  static constexpr bool is_large(T number) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      return number > static_cast<T>(INT64_MAX);
    } else {
      static_cast<void>(number);
      return false;
    }
  }
};

// An enumeration is recorded by its numbers. To record its names, specialize `Encoding` for it.
template <class T>
struct Encoding<T, std::enable_if_t<std::is_enum_v<T>>> {
  static std::size_t bound(T value) { return detail::bound(number_of(value)); }
  static std::uint8_t* write(std::uint8_t* to, T value) { return detail::write(to, number_of(value)); }

 private:
  static auto number_of(T value) {
    using Number = std::underlying_type_t<T>;
    return static_cast<std::conditional_t<std::is_unsigned_v<Number>, std::uint64_t, std::int64_t>>(value);
  }
};

template <>
struct Encoding<bool> {
  static std::size_t bound(bool /*truth*/) { return 1; }
  static std::uint8_t* write(std::uint8_t* to, bool truth) {
    *to++ = truth ? 0x02 : 0x01;
    return to;
  }
};

// The format has finite numbers only.
template <class T>
struct Encoding<T, std::enable_if_t<std::is_same_v<T, double> || std::is_same_v<T, float>>> {
  static std::size_t bound(T number) {
    if (!std::isfinite(number)) detail::fail("only finite numbers can be recorded");
    return 1 + sizeof(double);
  }
  static std::uint8_t* write(std::uint8_t* to, T number) {
    const double wide = static_cast<double>(number);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &wide, sizeof bits);
    *to++ = 0x04;
    detail::store_little_endian(to, bits);
    return to + sizeof bits;
  }
};

template <>
struct Encoding<std::string_view> {
  static std::size_t bound(std::string_view text) { return 1 + detail::bound_of_text(text); }
  static std::uint8_t* write(std::uint8_t* to, std::string_view text) { return detail::write_string(to, text); }
};
template <>
struct Encoding<std::string> : Encoding<std::string_view> {};
template <>
struct Encoding<const char*> : Encoding<std::string_view> {};
template <>
struct Encoding<char*> : Encoding<std::string_view> {};
template <std::size_t N>
struct Encoding<char[N]> : Encoding<std::string_view> {};

template <>
struct Encoding<std::nullptr_t> {
  static std::size_t bound(std::nullptr_t /*nil*/) { return 1; }
  static std::uint8_t* write(std::uint8_t* to, std::nullptr_t /*nil*/) {
    *to++ = 0x00;
    return to;
  }
};

template <>
struct Encoding<std::nullopt_t> {
  static std::size_t bound(std::nullopt_t /*nil*/) { return 1; }
  static std::uint8_t* write(std::uint8_t* to, std::nullopt_t /*nil*/) { return detail::write(to, nullptr); }
};

template <class T>
struct Encoding<std::optional<T>> {
  static std::size_t bound(const std::optional<T>& value) { return value ? detail::bound(*value) : 1; }
  static std::uint8_t* write(std::uint8_t* to, const std::optional<T>& value) {
    return value ? detail::write(to, *value) : detail::write(to, nullptr);
  }
};

template <class... T>
struct Encoding<std::tuple<T...>> : detail::TupleEncoding<std::tuple<T...>> {};
template <class A, class B>
struct Encoding<std::pair<A, B>> : detail::TupleEncoding<std::pair<A, B>> {};
template <class T, std::size_t N>
struct Encoding<std::array<T, N>> : detail::ItemsEncoding<std::array<T, N>, detail::tuple_tag> {};
template <class T, class A>
struct Encoding<std::vector<T, A>> : detail::ItemsEncoding<std::vector<T, A>, detail::tuple_tag> {};
template <class T, class C, class A>
struct Encoding<std::set<T, C, A>> : detail::ItemsEncoding<std::set<T, C, A>, detail::set_tag> {};

template <class K, class V, class C, class A>
struct Encoding<std::map<K, V, C, A>> {
  static std::size_t bound(const std::map<K, V, C, A>& function) {
    const detail::Level level;
    std::size_t sum = 1 + detail::longest_varint;
    for (const auto& [argument, result] : function) sum += detail::bound(argument) + detail::bound(result);
    return sum;
  }
  static std::uint8_t* write(std::uint8_t* to, const std::map<K, V, C, A>& function) {
    *to++ = detail::function_tag;
    to = detail::write_varint(to, function.size());
    for (const auto& [argument, result] : function) to = detail::write(detail::write(to, argument), result);
    return to;
  }
};

// A value whose shape is known only at run time.
class Value {
 public:
  Value() = default;  // nil
  Value(std::nullptr_t /*nil*/) {}
  Value(bool truth) : content_(truth) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                              !detail::is_character<T>>>
  Value(T number) : content_(content_of(number)) {}
  Value(double number) : content_(number) {}
  Value(std::string text) : content_(std::move(text)) {}
  Value(const char* text) : content_(std::string(text)) {}

  static Value tuple(std::vector<Value> items) { return Value(Items{detail::tuple_tag, std::move(items)}); }
  // No item may occur twice; items are written in the given order.
  static Value set(std::vector<Value> items) { return Value(Items{detail::set_tag, std::move(items)}); }
  // Arguments and results alternate: argument, result, argument, result.
  static Value function(std::vector<Value> pairs) {
    if (pairs.size() % 2 != 0) detail::fail("a function has a result for each argument");
    return Value(Items{detail::function_tag, std::move(pairs)});
  }

 private:
  friend struct Encoding<Value>;

  struct Items {
    std::uint8_t tag;
    std::vector<Value> items;
  };

  explicit Value(Items items) : content_(std::move(items)) {}

  template <class T>
  static auto content_of(T number) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
      return static_cast<std::uint64_t>(number);
    } else {
      return static_cast<std::int64_t>(number);
    }
  }

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Items> content_ = nullptr;
};

template <>
struct Encoding<Value> {
  static std::size_t bound(const Value& value) {
    return std::visit(
        [](const auto& content) -> std::size_t {
          if constexpr (std::is_same_v<detail::Plain<decltype(content)>, Value::Items>) {
            const detail::Level level;
            std::size_t sum = 1 + detail::longest_varint;
            for (const Value& item : content.items) sum += bound(item);
            return sum;
          } else {
            return detail::bound(content);
          }
        },
        value.content_);
  }

  static std::uint8_t* write(std::uint8_t* to, const Value& value) {
    return std::visit(
        [to](const auto& content) -> std::uint8_t* {
          if constexpr (std::is_same_v<detail::Plain<decltype(content)>, Value::Items>) {
            const std::size_t per_count = content.tag == detail::function_tag ? 2 : 1;
            std::uint8_t* at = to;
            *at++ = content.tag;
            at = detail::write_varint(at, content.items.size() / per_count);
            for (const Value& item : content.items) at = write(at, item);
            return at;
          } else {
            return detail::write(to, content);
          }
        },
        value.content_);
  }
};

// Arguments or results whose number is known only at run time. Refers to an array of values.
template <class T>
struct Sequence {
  const T* first = nullptr;
  std::size_t count = 0;
};

using Values = Sequence<Value>;

namespace detail {

// The arguments or the results of one operation: as many values as the action has names for, without a tag around
// them.
template <class... T>
struct Row {
  std::tuple<const T&...> values;

  static constexpr std::size_t size() { return sizeof...(T); }
  std::size_t bound() const {
    return std::apply([](const T&... value) { return (std::size_t{0} + ... + detail::bound<T>(value)); }, values);
  }
  std::uint8_t* write(std::uint8_t* to) const {
    std::apply([&](const T&... value) { ((to = detail::write<T>(to, value)), ...); }, values);
    return to;
  }
};

template <class T>
struct Row<Sequence<T>> {
  Sequence<T> values;

  std::size_t size() const { return values.count; }
  std::size_t bound() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < values.count; ++i) sum += detail::bound(values.first[i]);
    return sum;
  }
  std::uint8_t* write(std::uint8_t* to) const {
    for (std::size_t i = 0; i < values.count; ++i) to = detail::write(to, values.first[i]);
    return to;
  }
};

template <class... T>
Row<T...> row(const T&... values) {
  return {std::tuple<const T&...>(values...)};
}
template <class T>
Row<Sequence<T>> row(const Sequence<T>& values) {
  return {values};
}

// The elements of a tuple, or of an array.
template <class... T>
Row<Plain<T>...> unpack(const std::tuple<T...>& values) {
  return std::apply([](const Plain<T>&... value) { return Row<Plain<T>...>{{value...}}; }, values);
}
template <class T>
Row<Sequence<T>> unpack(const Sequence<T>& values) {
  return {values};
}

}  // namespace detail
}  // namespace omnilink
