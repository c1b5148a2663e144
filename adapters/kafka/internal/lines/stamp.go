package lines

import "time"

// stampBytes is the length of a time in the log, brackets included.
const stampBytes = len("[02/Jan/2006:15:04:05 -0700]")

// Stamp is a time as an access log writes it, taken apart. It keeps the
// offset from UTC that was logged.
type Stamp struct {
	Year, Month, Day, Hour, Minute, Second int
	// East says whether the offset, in minutes, is to be added to UTC.
	East   bool
	Offset int
}

// parseStamp reads [02/Jan/2006:15:04:05 -0700] from the start of b.
func parseStamp(b []byte) (s Stamp, ok bool) {
	if len(b) < stampBytes {
		return s, false
	}
	b = b[:stampBytes]
	if b[0] != '[' || b[3] != '/' || b[7] != '/' || b[12] != ':' || b[15] != ':' || b[18] != ':' ||
		b[21] != ' ' || b[27] != ']' || (b[22] != '+' && b[22] != '-') {
		return s, false
	}
	ok = true
	take := func(text []byte, low, high int) int {
		n, digits := number(text, len(text))
		ok = ok && digits && int(n) >= low && int(n) <= high
		return int(n)
	}
	s.Month = month(b[4:7])
	s.Year = take(b[8:12], 1, 9999)
	s.Hour = take(b[13:15], 0, 23)
	s.Minute = take(b[16:18], 0, 59)
	s.Second = take(b[19:21], 0, 60) // 60 in a leap second
	s.East = b[22] == '+'
	s.Offset = 60*take(b[23:25], 0, 23) + take(b[25:27], 0, 59)
	if !ok || s.Month == 0 {
		return s, false
	}
	s.Day = take(b[1:3], 1, daysIn(s.Year, s.Month))
	return s, ok
}

func month(b []byte) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for m := range 12 {
		if string(b) == names[3*m:3*m+3] {
			return m + 1
		}
	}
	return 0
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// append writes the form of RFC 3339.
func (s Stamp) append(dst []byte) []byte {
	dst = appendDigits(dst, s.Year, 4)
	dst = append(dst, '-')
	dst = appendDigits(dst, s.Month, 2)
	dst = append(dst, '-')
	dst = appendDigits(dst, s.Day, 2)
	dst = append(dst, 'T')
	dst = appendDigits(dst, s.Hour, 2)
	dst = append(dst, ':')
	dst = appendDigits(dst, s.Minute, 2)
	dst = append(dst, ':')
	dst = appendDigits(dst, s.Second, 2)
	if s.Offset == 0 {
		return append(dst, 'Z')
	}
	sign := byte('-')
	if s.East {
		sign = '+'
	}
	dst = append(dst, sign)
	dst = appendDigits(dst, s.Offset/60, 2)
	dst = append(dst, ':')
	return appendDigits(dst, s.Offset%60, 2)
}

func appendDigits(dst []byte, n, width int) []byte {
	for div := pow10(width - 1); div > 0; div /= 10 {
		dst = append(dst, byte('0'+n/div%10))
	}
	return dst
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}
